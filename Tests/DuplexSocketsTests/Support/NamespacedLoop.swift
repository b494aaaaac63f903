// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestNetworks
import DuplexTestProcesses
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

/// A network namespace with two ends of one cable in it, `near0`, with the addresses 10.99.0.1, fd99::1 and fd99::9, and `far0`,
/// where nobody is; and a loop for the sockets that are made in it.
struct NamespacedLoop {
    let loop: EventLoop
    private let namespace: NetworkNamespace
    private let holder: SpawnedProcess
    private let leash: Pipe
    private let exits: AsyncStream<Void>

    /// Whether this machine lets the tests have one; said where tests depend on it.
    static var isAllowed: Bool {
        get async {
            // In continuous integration the tests fail instead.
            if Integration.isOn { return true }
            guard geteuid() == 0 else { return false }
            let cable = ["link", "add", "near0", "type", "veth", "peer", "name", "far0"]
            return (try? await run("unshare", ["--net", "ip"] + cable)) == 0
        }
    }

    static let requirement: Comment = "needs the right to make network namespaces, and iproute2"

    /// Runs `body` with a namespace that is gone afterwards.
    static func with(_ body: (NamespacedLoop) async throws -> Void) async throws {
        let namespace = try await NamespacedLoop()
        do {
            try await body(namespace)
        } catch {
            await namespace.end()
            throw error
        }
        await namespace.end()
    }

    private init() async throws {
        // Lives as long as its input is open, and the namespace as long as it lives.
        let (holder, leash, ready) = (SpawnedProcess(), Pipe(), Pipe())
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        holder.arguments = ["unshare", "--net", "sh", "-c", "echo ready; exec cat"]
        holder.standardInput = .pipe(leash)
        holder.standardOutput = .pipe(ready)
        let (exits, exit) = AsyncStream<Void>.makeStream()
        holder.terminationHandler = { _ in exit.finish() }
        try holder.run()
        _ = ready.fileHandleForReading.availableData
        (self.holder, self.leash, self.exits) = (holder, leash, exits)
        namespace = NetworkNamespace(path: "/proc/\(holder.processIdentifier)/ns/net")
        loop = try EventLoop(name: "namespaced")
        for command in [
            "link set lo up", "link add near0 type veth peer name far0", "addr add 10.99.0.1/24 dev near0",
            // One that the system makes by itself becomes usable whenever it has found no other.
            "link set near0 addrgenmode none", "addr add fe80::1/64 dev near0 nodad",
            "addr add fd99::9/64 dev near0 nodad", "addr add fd99::1/64 dev near0 nodad", "link set near0 up",
            "link set far0 up",
        ] {
            try await ip(command)
        }
        // The system notices a moment later that there is a cable; much later while it takes down other namespaces.
        let deadline = ContinuousClock.now.advanced(by: .seconds(40))
        for address in ["fd99::1", "fd99::9"] {
            let question = "route get ff15::1 from \(address) oif near0"
            while (try? await ip(question)) == nil {
                guard ContinuousClock.now < deadline else {
                    throw SocketError(.timedOut, message: "\(address) isn't there within 40 s.")
                }
            }
        }
    }

    /// Does something on the loop, in the namespace.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await loop.run { [namespace] _ in try namespace.run(body) }
    }

    /// Lets a socket do something in the namespace, such as to look for an interface by its name.
    func run(on socket: isolated UDPSocket, _ body: @Sendable (isolated UDPSocket) throws -> Void) throws {
        try namespace.run { try body(socket) }
    }

    /// Runs `ip` in the namespace.
    func ip(_ command: String) async throws {
        let words = command.split(separator: " ").map { String($0) }
        let status = try await Self.run("nsenter", ["--net=/proc/\(holder.processIdentifier)/ns/net", "ip"] + words)
        if status != 0 { throw SocketError(.system, message: "ip \(command) ended with \(status).") }
    }

    /// Binds a socket in the namespace.
    func bind(
        _ host: LocalHost = .any,
        port: Int = 0,
        families: AddressFamilies = .all,
        sharing: UDPSocket.Sharing = .none,
        options: DatagramOptions = DatagramOptions()
    ) async throws -> UDPSocket {
        let binding = DatagramBinding(host: host, port: port, families: families, sharing: sharing, options: options)
        let (bound, local) = try await run {
            let bound = try binding.bind()
            return (bound, SocketAddress.local(of: bound.descriptor))
        }
        guard let local else { throw SocketError(.cannotBind, message: "There is no address.") }
        return await UDPSocket.adopt(bound, local: local, remote: nil, options, on: loop)
    }

    private func end() async {
        await loop.stop()
        try? leash.fileHandleForWriting.close()
        for await _ in exits {}
    }

    private static func run(_ tool: String, _ arguments: [String]) async throws -> Int32 {
        let process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
