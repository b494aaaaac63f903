// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport
import HTTPTypes

// Conditions of WebDAV aren't public: servers read them.
@testable import DuplexSharing
@testable import DuplexWire

/// Called by libFuzzer for each input.
///
/// The options choose what the bytes are taken for. Each value comes whole, so that the pieces don't matter; lines are values of
/// several fields of a name.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let text = String(decoding: input.bytes, as: UTF8.self)
    let values = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    switch input.options & 7 {
    case 0: checkExtensions(values)
    case 1: checkSubprotocols(values)
    case 2: checkRequestCookies(values)
    case 3: checkSetCookies(values)
    case 4: checkChallenges(values)
    case 5: checkCondition(values)
    default: checkURL(text)
    }
    return 0
}

private func headers(_ name: HTTPField.Name, _ values: [String]) -> HTTPFields {
    var headers = HTTPFields()
    for value in values { headers.append(HTTPField(name: name, value: value)) }
    return headers
}

private func checkExtensions(_ values: [String]) {
    guard let offers = ExtensionHeader.parse(headers(.secWebSocketExtensions, values)) else { return }
    require(offers.count <= ExtensionHeader.offerBound, "\(offers.count) extensions are taken")
    for offer in offers {
        require(
            offer.parameters.count <= ExtensionHeader.parameterBound,
            "\(offer.parameters.count) parameters are taken"
        )
    }
    if !offers.isEmpty {
        require(ExtensionHeader.parse(ExtensionHeader.serialize(offers)) == offers, "\(offers) become others")
    }
    let negotiation = DeflateNegotiation()
    if let (answer, agreement) = negotiation.accept(offers) {
        // What a server answers, a client takes, and both have agreed on the same.
        let asked = offers.compactMap { DeflateOffer($0) }
        require(DeflateNegotiation.agreement(answer, to: asked) == agreement, "the client takes \(answer) otherwise")
    }
    for offer in offers { _ = DeflateNegotiation.agreement(offer, to: negotiation.offers) }
}

private func checkSubprotocols(_ values: [String]) {
    guard let names = SubprotocolHeader.parse(headers(.secWebSocketProtocol, values)) else { return }
    require(names.count <= SubprotocolHeader.bound, "\(names.count) subprotocols are taken")
    require(names.isEmpty || SubprotocolHeader.isValid(names), "\(names) are taken")
}

private func checkRequestCookies(_ values: [String]) {
    let cookies = RequestCookies(headers(.cookie, values))
    require(cookies.count <= RequestCookies.bound, "\(cookies.count) cookies are taken")
    for cookie in cookies {
        require(!cookie.name.isEmpty && cookies[cookie.name] != nil, "“\(cookie.name)” isn't found")
    }
}

private func checkSetCookies(_ values: [String]) {
    guard let url = try? WebSocketURL("wss://a.example.com/b/c") else { fatalError("the URL isn't one") }
    var store = CookieStore()
    let now: Int64 = 1_000_000_000
    store.store(values, from: url, at: now)
    require(
        store.cookies.count <= min(values.count, CookieStore.domainBound),
        "\(store.cookies.count) cookies are kept"
    )
    guard let value = store.value(for: url, at: now) else { return }
    // A tab may be in it (RFC 6265bis section 5.6).
    require(!value.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F }, "\(value.debugDescription) would be sent")
    // Another host isn't told, whatever a cookie says of its domain.
    guard let other = try? WebSocketURL("wss://other.example.net/b/c") else { fatalError("the URL isn't one") }
    require(store.value(for: other, at: now) == nil, "another host is told \(value)")
}

private func checkChallenges(_ values: [String]) {
    let challenges = AuthenticationChallenge.parse(values)
    require(challenges.count <= AuthenticationChallenge.bound, "\(challenges.count) challenges are taken")
    for challenge in challenges {
        let count = challenge.parameters.count
        require(!challenge.scheme.isEmpty && count <= AuthenticationChallenge.parameterBound, "\(challenge) is taken")
        require(challenge.token == nil || count == 0, "\(challenge) has both")
    }
}

private func checkCondition(_ values: [String]) {
    let condition: WebDAVCondition
    do {
        guard let read = try WebDAVCondition(headers(.davIf, values)) else { return }
        condition = read
    } catch {
        return
    }
    require(condition.tokens.count <= WebDAVCondition.bound, "\(condition.tokens.count) tokens are taken")
    for resource in condition.resources { _ = WebDAVCondition.path(of: resource, host: "a.test") }
    let all = WebDAVCondition.State(tag: EntityTag("a"), tokens: condition.tokens)
    _ = condition.holds(for: all, [:])
    _ = condition.holds(for: WebDAVCondition.State(), [:])
}

private func checkURL(_ text: String) {
    guard let url = try? WebSocketURL(text) else { return }
    require(url.requestTarget.hasPrefix("/"), "\(url.requestTarget) is asked for")
    require(
        !url.requestTarget.utf8.contains { $0 <= 0x20 || $0 >= 0x7F },
        "\(url.requestTarget.debugDescription) is asked for"
    )
    require((1...65_535).contains(url.port) && !url.host.isEmpty, "\(url.host):\(url.port) is connected to")
    guard let again = try? WebSocketURL(url.description) else { fatalError("\(url) can't be read again") }
    require(again.description == url.description && again.host == url.host, "\(url) becomes \(again)")
}
