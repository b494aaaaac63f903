// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// Tells the service manager that has started this process how it is (sd_notify(3)).
///
/// By datagrams to the socket that `NOTIFY_SOCKET` names. What can't be sent is left: the service goes on without.
final class ServiceNotifier: Sendable {
    private let socket: Int32
    private let address: SocketAddress
    /// How often the manager wants to hear that the service lives; nil if it doesn't.
    let watchdogInterval: Duration?

    /// Makes one; nil where no manager wants to know.
    ///
    /// - Parameter variable: gives a variable of the environment.
    init?(_ variable: (String) -> String? = EnvironmentVariables.value) {
        guard let path = variable("NOTIFY_SOCKET"), let address = try? SocketAddress.unix(path),
            let socket = try? DatagramCalls.socket(.unix)
        else { return nil }
        self.socket = socket
        self.address = address
        watchdogInterval = variable("WATCHDOG_USEC").flatMap { Int64($0) }.map { .microseconds($0) }
    }

    deinit {
        SystemCalls.close(socket)
    }

    /// The service takes connections.
    func ready() { send("READY=1") }

    /// It is about to end.
    func stopping() { send("STOPPING=1") }

    /// It reads its settings again; ``ready()`` ends that.
    func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Instant.now().nanoseconds / 1_000)")
    }

    /// It lives.
    func alive() { send("WATCHDOG=1") }

    private func send(_ text: String) {
        let datagram = Datagram(Array(text.utf8), to: address)
        _ = DatagramCalls.send([datagram][...], socket, family: .unix, in: ReceiveBuffer())
    }
}
