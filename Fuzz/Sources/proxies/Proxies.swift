// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

// How long digests are isn't public.
@testable import DuplexWebSockets
@testable import DuplexWire

/// All that came of a proxy's answers.
struct Outcome: Equatable {
    var steps: [ProxyStep] = []
    var error: ProxyError.Code?
    /// How much was taken.
    var taken = 0
}

/// Not a digest, but another text for each, and as long.
private func digest(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: algorithm.length)
    for (index, byte) in bytes.enumerated() {
        digest[index % digest.count] = digest[index % digest.count] &* 31 &+ byte
    }
    return digest
}

/// What speaks to a proxy.
private protocol Negotiation {
    mutating func start() -> [UInt8]
    var wanted: Int { get }
    mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep
}

extension SOCKS4Handshake: Negotiation {}
extension SOCKS5Handshake: Negotiation {}
extension HTTPTunnel: Negotiation {}

/// Called by libFuzzer for each input.
///
/// Of the options, bits 0 and 1 choose the protocol, bit 2 a name rather than an address, bit 3 credentials.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let address: SOCKSAddress = input.options & 4 != 0 ? .name("a.test") : .ipv4([192, 0, 2, 1])
    let credentials = input.options & 8 != 0 ? PasswordCredentials(user: "ann", password: "secret") : nil
    let outcome = sameInEverySplit(input) { pieces in
        do throws(ProxyError) {
            switch input.options & 3 {
            case 0: return run(try SOCKS4Handshake(address: address, port: 80, user: "ann"), pieces)
            case 1: return run(try SOCKS5Handshake(address: address, port: 80, credentials: credentials), pieces)
            default:
                let authenticator = credentials.map {
                    Authenticator($0, schemes: .strongest, digest: digest, nonce: { Array(0..<16) })
                }
                return run(try HTTPTunnel(host: "a.test", port: 80, authenticator: authenticator), pieces)
            }
        } catch {
            fatalError("\(error)")
        }
    }
    let ends = outcome.steps.count { $0 == .established || $0 == .reconnect }
    require(ends <= 1 && (ends == 0 || outcome.error == nil), "it ends more than once: \(outcome)")
    require(outcome.taken <= input.bytes.count, "more is taken than there is")
    return 0
}

private func run(_ negotiation: some Negotiation, _ pieces: [[UInt8]]) -> Outcome {
    var (negotiation, outcome) = (negotiation, Outcome())
    _ = negotiation.start()
    do throws(ProxyError) {
        for piece in pieces {
            var position = 0
            while position < piece.count {
                require(negotiation.wanted > 0, "nothing is waited for")
                let before = position
                let step = try negotiation.receive(piece.span, from: &position)
                outcome.taken += position - before
                if step != .wait { outcome.steps.append(step) }
                if step == .established || step == .reconnect { return outcome }
                require(position > before || step != .wait, "nothing is taken of \(piece.count - position) bytes")
            }
        }
    } catch {
        outcome.error = error.code
        // How much is taken before a fault depends on the pieces.
        outcome.taken = 0
    }
    return outcome
}
