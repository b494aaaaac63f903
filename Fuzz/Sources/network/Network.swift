// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

// What the system and name servers say is read by nobody else.
@testable import DuplexSockets

/// All that a parser tells of one header of the PROXY protocol.
struct Outcome: Equatable {
    var header: ProxyHeader?
    /// How many bytes it has.
    var length = 0
    var isFault = false
}

/// Called by libFuzzer for each input.
///
/// Of the options, the lowest two bits choose what the bytes are taken for; bit 2 asks for IPv6.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    switch input.options & 3 {
    case 0: checkAnswer(input.bytes, input.options & 4 != 0 ? .ipv6 : .ipv4)
    case 1: checkNetlink(input.bytes)
    default: checkProxyHeader(input)
    }
    return 0
}

private func checkAnswer(_ bytes: [UInt8], _ type: DNSType) {
    guard let name = try? DomainName("a.test") else { fatalError("the name isn't one") }
    let query = DNSQuery(id: 0x1234, question: DNSQuestion(name: name, type: type))
    require(query.read(query.encoded) == .foreign, "a question is taken for an answer")
    guard case .answer(let answer) = query.read(bytes) else { return }
    switch answer.content {
    case .addresses(let addresses):
        require(!addresses.isEmpty && Set(addresses).count == addresses.count, "\(addresses) aren't different")
    case .alias(let alias):
        require(alias.octets.count <= DomainName.limit && alias.octets.last == 0, "an alias is too long")
        require(alias.labels.allSatisfy { $0.count <= DomainName.labelLimit }, "a label is too long")
    case .nothing, .noName: break
    }
}

private func checkNetlink(_ bytes: [UInt8]) {
    let (messages, isWhole) = NetlinkParser.messages(in: bytes, port: 7)
    require(messages.count <= bytes.count / 16 + 1, "\(messages.count) messages are in \(bytes.count) bytes")
    var tracker = NetworkTracker()
    _ = tracker.begin()
    for message in messages { _ = tracker.take(message) }
    if !isWhole { _ = tracker.overrun() }
}

private func checkProxyHeader(_ input: FuzzInput) {
    let outcome = sameInEverySplit(input) { pieces in
        var (parser, outcome) = (ProxyHeaderParser(maximumLength: 256), Outcome())
        do throws(ProxyHeaderParser.Fault) {
            for piece in pieces {
                require(parser.wanted > 0, "nothing is waited for")
                let (count, header) = try parser.take(piece)
                outcome.length += count
                require(count <= piece.count && (header != nil || count == piece.count), "bytes are passed over")
                if let header {
                    outcome.header = header
                    return outcome
                }
            }
        } catch {
            outcome = Outcome(isFault: true)
        }
        return outcome
    }
    require(outcome.length <= 16 + 256, "a header has \(outcome.length) bytes")
    guard let header = outcome.header else { return }
    require((header.source == nil) == (header.destination == nil), "one address is there without the other")
}
