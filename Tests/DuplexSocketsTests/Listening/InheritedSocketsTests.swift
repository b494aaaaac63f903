// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSockets

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
