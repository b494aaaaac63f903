// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Glibc
import Testing

@testable import DuplexSockets

@Suite struct UnixSocketFileTests {
    /// Runs `body` with a path in a folder of its own.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let name = "duplex-\(UUID().uuidString.prefix(8))"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("s").path)
    }

    /// Expects a listener to serve connections at the address.
    private func expectEcho(at path: String, loops: Int = 1) async throws {
        let group = try EventLoopGroup(loops: loops)
        let listener = try SocketListener.bind(.unix(path), on: group)
        #expect(listener.localAddress.path == path)
        let serving = Task {
            try await listener.serve { socket in
                while let bytes = try await socket.read() { try await socket.write(bytes) }
            }
        }
        for number in 0..<4 {
            let socket = try await Socket.connect(to: .unix(path), on: group)
            #expect(socket.remoteAddress?.path == path)
            try await socket.write("hello \(number)\n")
            #expect(try await socket.readLine() == "hello \(number)")
            await socket.close()
        }
        serving.cancel()
        _ = await serving.result
        await group.stop()
    }

    @Test("Connections to a path are served on every loop, and the file is gone afterwards", arguments: [1, 3])
    func serving(loops: Int) async throws {
        try await withPath { path in
            try await expectEcho(at: path, loops: loops)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    #if os(Linux)
    @Test("A name that isn't a file's is listened at and connected to")
    func abstract() async throws {
        try await expectEcho(at: "@duplex-tests-\(UUID().uuidString)")
    }
    #endif

    @Test("Where somebody listens nobody else can, and the one who does isn't disturbed")
    func live() async throws {
        try await withPath { path in
            let listener = try SocketListener.bind(.unix(path))
            #expect { try SocketListener.bind(.unix(path)) } throws: { ($0 as? SocketError)?.code == .cannotBind }
            #expect(FileManager.default.fileExists(atPath: path))
            await listener.close()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("A socket that is left from one who has ended is replaced")
    func stale() async throws {
        try await withPath { path in
            SystemCalls.close(try ListeningSockets.bound(.unix(path), sharesPort: false))
            #expect(FileManager.default.fileExists(atPath: path))
            try await expectEcho(at: path)
        }
    }

    @Test("A file that isn't a socket is left alone")
    func otherFile() async throws {
        try await withPath { path in
            try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
            #expect { try SocketListener.bind(.unix(path)) } throws: { ($0 as? SocketError)?.errno == EEXIST }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
        }
    }

    @Test("A file that another listener has put there meanwhile isn't removed")
    func replaced() async throws {
        try await withPath { path in
            let first = try SocketListener.bind(.unix(path))
            try FileManager.default.removeItem(atPath: path)
            let second = try SocketListener.bind(.unix(path))
            await first.close()
            #expect(FileManager.default.fileExists(atPath: path))
            await second.close()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("The permissions are those that were asked for", arguments: [UInt16(0o600), 0o660])
    func permissions(permissions: UInt16) async throws {
        try await withPath { path in
            let listener = try SocketListener.bind(.unix(path, permissions: permissions))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == Int(permissions))
            await listener.close()
        }
    }

    @Test("Nobody there is told as such, with the path")
    func nobody() async throws {
        try await withPath { path in
            await #expect { try await Socket.connect(to: .unix(path)) } throws: {
                let error = $0 as? SocketError
                return error?.code == .cannotConnect && error?.message.contains(path) == true
            }
            #expect { try SocketListener.bind(.unix(path + "/missing/s")) } throws: {
                ($0 as? SocketError)?.code == .cannotBind
            }
        }
    }

    @Test("A folder that somebody keeps locked isn't waited for without end")
    func locked() async throws {
        try await withPath { path in
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let folder = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { SystemCalls.close(folder) }
            try #require(flock(folder, LOCK_EX) == 0)
            #expect { try SocketListener.bind(.unix(path)) } throws: { ($0 as? SocketError)?.errno == EWOULDBLOCK }
        }
    }

    @Test("Of several that find a stale socket one alone gets the path")
    func racing() async throws {
        try await withPath { path in
            SystemCalls.close(try ListeningSockets.bound(.unix(path), sharesPort: false))
            let listeners = await withTaskGroup(of: SocketListener?.self) { tasks in
                for _ in 0..<8 { tasks.addTask { try? SocketListener.bind(.unix(path)) } }
                return await tasks.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(listeners.count == 1)
            for listener in listeners { await listener.close() }
        }
    }
}
