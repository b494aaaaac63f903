// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

@Suite struct ListeningSocketsTests {
    private func withSockets(
        _ address: ListenAddress,
        loops: Int,
        _ body: (ListeningSockets) throws -> Void
    ) throws {
        let sockets = try ListeningSockets(address, loops: loops, backlog: 8)
        defer { for descriptor in sockets.perLoop.joined() { SystemCalls.close(descriptor) } }
        try body(sockets)
    }

    @Test("Port 0 gives one port, the same for all loops and both families", arguments: [1, 3])
    func anyPort(loops: Int) throws {
        try withSockets(.tcp(port: 0), loops: loops) { sockets in
            let port = try #require(sockets.address?.port)
            #expect(port > 0)
            #expect(sockets.address?.host == "127.0.0.1")
            #expect(sockets.perLoop.count == loops)
            for descriptors in sockets.perLoop {
                let addresses = descriptors.compactMap { SocketAddress.local(of: $0) }
                #expect(addresses.allSatisfy { $0.port == port })
                #expect(Set(addresses.map(\.isIPv6)).count == addresses.count)
                #expect(addresses.count == sockets.perLoop[0].count)
            }
        }
    }

    @Test(
        "A port that another listener has fails with cannotBind, however many loops either has",
        arguments: [1, 2],
        [1, 2]
    )
    func taken(first: Int, second: Int) throws {
        try withSockets(.tcp(host: "127.0.0.1", port: 0), loops: first) { sockets in
            let port = try #require(sockets.address?.port)
            #expect {
                try withSockets(.tcp(host: "127.0.0.1", port: port), loops: second) { _ in }
            } throws: {
                ($0 as? SocketError)?.code == .cannotBind
            }
        }
    }

    /// Binds as `ListeningSockets` does, but has somebody else take the port of ::1 the first times.
    private final class Rival {
        private(set) var descriptors: [Int32] = []
        /// How often a port of 127.0.0.1 was asked for.
        private(set) var attempts = 0
        private var remaining: Int

        init(times: Int) {
            remaining = times
        }

        func bind(_ address: SocketAddress, sharesPort: Bool) throws(SocketError) -> Int32 {
            if !address.isIPv6 && !sharesPort { attempts += 1 }
            if address.isIPv6 && remaining > 0 {
                // Where another process has this port on ::1, the attempt fails by itself and doesn't count.
                descriptors.append(try ListeningSockets.bound(address, sharesPort: false))
                remaining -= 1
                #expect(Glibc.listen(descriptors[descriptors.count - 1], 1) == 0)
            }
            return try ListeningSockets.bound(address, sharesPort: sharesPort)
        }

        func close() {
            for descriptor in descriptors { SystemCalls.close(descriptor) }
        }
    }

    @Test(
        "A port that the system chose and somebody has on ::1 is given up for another",
        arguments: [1, 2],
        // Four attempts are left for ports that a real rival has.
        [1, ListeningSockets.portAttempts - 5]
    )
    func chosenPortTaken(loops: Int, times: Int) throws {
        let rival = Rival(times: times)
        defer { rival.close() }
        let sockets = try ListeningSockets(.tcp(port: 0), loops: loops, backlog: 8, bind: rival.bind)
        defer { for descriptor in sockets.perLoop.joined() { SystemCalls.close(descriptor) } }
        let taken = rival.descriptors.compactMap { SocketAddress.local(of: $0)?.port }
        #expect(Set(taken).count == times)
        let ports = sockets.perLoop.joined().compactMap { SocketAddress.local(of: $0)?.port }
        #expect(ports == [Int](repeating: try #require(sockets.address?.port), count: loops * 2))
        #expect(Set(taken).isDisjoint(with: ports))
    }

    @Test("When no chosen port is free on both addresses, it fails after so many")
    func noPort() throws {
        let rival = Rival(times: .max)
        defer { rival.close() }
        let error = #expect(throws: SocketError.self) {
            try ListeningSockets(.tcp(port: 0), loops: 1, backlog: 8, bind: rival.bind)
        }
        #expect(error?.code == .cannotBind)
        #expect(error?.errno == EADDRINUSE)
        #expect(rival.attempts == ListeningSockets.portAttempts)
    }

    @Test("A given port that somebody has on ::1 is tried once")
    func givenPortTaken() throws {
        try withSockets(.tcp(host: "::1", port: 0), loops: 1) { sockets in
            let rival = Rival(times: 0)
            let port = try #require(sockets.address?.port)
            let error = #expect(throws: SocketError.self) {
                try ListeningSockets(.tcp(port: port), loops: 1, backlog: 8, bind: rival.bind)
            }
            #expect(error?.code == .cannotBind)
            #expect(rival.attempts == 1)
        }
    }

    @Test("An address that isn't this machine's fails with its cause")
    func foreign() throws {
        #expect {
            try withSockets(.tcp(host: "::2", port: 0), loops: 1) { _ in }
        } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotBind && error?.causes.count == 1
        }
    }

    @Test("IPv6 alone is listened on by its literal")
    func ipv6() throws {
        try withSockets(.tcp(host: "::1", port: 0), loops: 2) { sockets in
            #expect(sockets.address?.isIPv6 == true)
            #expect(sockets.perLoop.map(\.count) == [1, 1])
        }
    }

    @Test("A socket that listens already is shared by the loops, and stays open if that fails", arguments: [1, 3])
    func adopted(loops: Int) throws {
        let (descriptor, address) = try Descriptors.listener()
        defer { SystemCalls.close(descriptor) }
        try withSockets(.descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)), loops: loops) { sockets in
            #expect(sockets.address == address)
            #expect(sockets.perLoop.map(\.count) == [Int](repeating: 1, count: loops))
            #expect(Set(sockets.perLoop.joined()).count == loops)
            #expect(sockets.file == nil)
            for copy in sockets.perLoop.joined() { #expect(SocketAddress.local(of: copy) == address) }
        }
        let silent = try Descriptors.refusing()
        #expect {
            try withSockets(.descriptor(silent.descriptor), loops: loops) { _ in }
        } throws: {
            ($0 as? SocketError)?.code == .cannotBind
        }
        #expect(fcntl(silent.descriptor, F_GETFD) >= 0)
        SystemCalls.close(silent.descriptor)
    }
}

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

@Suite struct InheritedSocketsTests {
    private static func find(_ name: String?, _ variables: [String: String]) throws -> [Int32] {
        try InheritedSockets.descriptors(named: name, process: 12) { variables[$0] }
    }

    @Test("The variables name descriptors from 3 on, all of them or those of a name")
    func finding() throws {
        let variables = ["LISTEN_PID": "12", "LISTEN_FDS": "4", "LISTEN_FDNAMES": "web:admin:web:"]
        #expect(try Self.find(nil, variables) == [3, 4, 5, 6])
        #expect(try Self.find("web", variables) == [3, 5])
        #expect(try Self.find("admin", variables) == [4])
        #expect(try Self.find(nil, ["LISTEN_PID": "12", "LISTEN_FDS": "1"]) == [3])
    }

    @Test(
        "What is missing is said",
        arguments: [
            ([:], "LISTEN_FDS isn't set"), (["LISTEN_FDS": "1"], "LISTEN_PID isn't set"),
            (["LISTEN_FDS": "1", "LISTEN_PID": "11"], "process 11 (LISTEN_PID), and this is process 12"),
            (["LISTEN_FDS": "1", "LISTEN_PID": ""], "LISTEN_PID"), (["LISTEN_FDS": "0", "LISTEN_PID": "12"], "“0”"),
            (["LISTEN_FDS": "-1", "LISTEN_PID": "12"], "“-1”"), (["LISTEN_FDS": "x", "LISTEN_PID": "12"], "“x”"),
            (["LISTEN_FDS": "2147483647", "LISTEN_PID": "12"], "no number of sockets"),
            (["LISTEN_FDS": "1", "LISTEN_PID": "12"], "LISTEN_FDNAMES isn't set"),
            (["LISTEN_FDS": "2", "LISTEN_PID": "12", "LISTEN_FDNAMES": "web"], "1 names for 2 sockets"),
            (["LISTEN_FDS": "1", "LISTEN_PID": "12", "LISTEN_FDNAMES": "admin"], "the names are “admin”"),
        ]
    )
    func refusing(variables: [String: String], words: String) {
        let error = #expect(throws: SocketError.self) { try Self.find("web", variables) }
        #expect(error?.code == .cannotBind)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    /// Run twice.
    ///
    /// By the suite it starts itself in a process that is handed a socket; in there, and in a service that systemd starts, it
    /// takes it.
    @Test("A process takes what it was started with, by name, once", .timeLimit(minutes: 5))
    func handedOver() async throws {
        if ProcessInfo.processInfo.environment["LISTEN_FDS"] == nil {
            try await handOver()
        } else {
            try await takeOver()
        }
    }

    private func handOver() async throws {
        let listener = try Descriptors.listener()
        let script = "LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=other:web exec \"$@\" 4<&0 3</dev/null </dev/null"
        let child = ChildProcess.test("InheritedSocketsTests/handedOver")
        let end = try await ChildProcess.run(["/bin/sh", "-c", script, "sh"] + child, input: listener.descriptor) {
            SystemCalls.close(listener.descriptor)
            let socket = try await Socket.connect(to: .address(listener.address))
            try await socket.write("through the parent's socket\n")
            #expect(try await socket.readLine(timeout: .limit(seconds: 120)) == "through the parent's socket")
            await socket.close()
        }
        #expect(end.status == 0, "\(end.output)")
    }

    private func takeOver() async throws {
        // The first of two is no socket, and what can't be used can be asked for again.
        for _ in 0..<2 where ProcessInfo.processInfo.environment["LISTEN_FDS"] == "2" {
            let refused = #expect(throws: SocketError.self) { try SocketListener.bind(.inherited()) }
            #expect(refused?.message == "Descriptor 3 isn't a socket.")
        }
        let listener = try SocketListener.bind(.inherited(name: "web"))
        let again = #expect(throws: SocketError.self) { try SocketListener.bind(.inherited(name: "web")) }
        #expect(again?.message.contains("taken before") == true)
        var iterator = listener.makeAsyncIterator()
        let socket = try #require(try await iterator.next())
        #expect(socket.localAddress == listener.localAddress)
        let line = try #require(try await socket.readLine(timeout: .limit(seconds: 60)))
        try await socket.write(line + "\n")
        #expect(try await socket.read() == nil)
        await socket.close()
        await listener.close()
        for descriptor in Int32(3)...4 {
            #expect((try? AdoptedDescriptor.listening(descriptor)) != listener.localAddress)
        }
    }
}

@Suite struct ReservedPortTests {
    @Test("Nobody answers there, until somebody listens, and again when they don't any more")
    func lifetime() async throws {
        let port = try ReservedPort()
        await #expect(throws: SocketError.self) { try await Socket.connect(to: .address(port.address)) }
        for _ in 0..<2 {
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: port.address.port))
            let socket = try await Socket.connect(to: .address(port.address))
            await socket.reset()
            await listener.close()
            #expect(await comesToRefuse(.address(port.address)))
        }
    }
}
