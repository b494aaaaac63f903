// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// What the conversations with all kinds of proxies have in common.
protocol ProxyMachine: Sendable {
    mutating func start() -> [UInt8]
    var wanted: Int { get }
    mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep
    mutating func finish() throws(ProxyError) -> ProxyStep
}

extension ProxyMachine {
    mutating func finish() throws(ProxyError) -> ProxyStep {
        throw ProxyError(.connectionClosed, "the proxy closed the connection before it answered")
    }
}

extension HTTPTunnel: ProxyMachine {}
extension SOCKS4Handshake: ProxyMachine {}
extension SOCKS5Handshake: ProxyMachine {}

/// Joins the rules of one kind of proxy to a connection to it.
struct ProxyTalk<Machine: ProxyMachine>: ProxyConversation {
    private var machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    var wanted: Int { machine.wanted }

    mutating func start() -> [UInt8] { machine.start() }

    mutating func receive(_ bytes: Span<UInt8>, from position: inout Int) throws(SocketError) -> ProxyMove {
        do throws(ProxyError) {
            return ProxyMove(try machine.receive(bytes, from: &position))
        } catch {
            throw error.socketError
        }
    }

    mutating func finish() throws(SocketError) -> ProxyMove {
        do throws(ProxyError) {
            return ProxyMove(try machine.finish())
        } catch {
            throw error.socketError
        }
    }
}

extension ProxyMove {
    init(_ step: ProxyStep) {
        switch step {
        case .wait: self = .wait
        case .send(let bytes): self = .send(bytes)
        case .reconnect: self = .reconnect
        case .established: self = .established
        }
    }
}

extension ProxyError {
    /// The same as an error of the sockets.
    var socketError: SocketError {
        var error = SocketError(.proxyRefused, message: message + ".")
        error.proxyFailure = self
        return error
    }
}
