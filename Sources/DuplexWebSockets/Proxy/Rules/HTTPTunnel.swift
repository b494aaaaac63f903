// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexWire
package import HTTPTypes

/// Asks an HTTP proxy for a connection to a host: the method CONNECT (RFC 9110 section 9.3.6, RFC 9112 section 3.2.3).
///
/// Begin with ``start()``, then hand in what arrives until the step says ``ProxyStep/established``. What follows the
/// head of the answer belongs to the tunnel and stays untouched. A proxy that asks for credentials (407) gets them on the
/// same connection if it keeps it open, or on a new one.
package struct HTTPTunnel: Sendable {
    private enum State {
        case idle
        case head
        /// The body of a refusal that is followed by another request.
        case body(BodyDecoder, ResponseHead)
        case done
        case failed(ProxyError)
    }

    /// The most of a refusal's body that is read to use the connection again; beyond it, a new one is made.
    package static let bodyBound = 65_536
    private static let interimBound = 16

    private let target: String
    private let headers: HTTPFields
    private let limits: HTTPLimits
    private var authenticator: Authenticator?
    private var state = State.idle
    private var parser: ResponseHeadParser
    private var interimResponses = 0
    /// The last bytes of the head, to know how far away its end is at least.
    private var matched = 0

    /// Prepares a tunnel.
    ///
    /// - Parameters:
    ///   - host: The host to connect to, which the proxy looks up: a name, or an address without brackets.
    ///   - port: The port, 1 to 65,535.
    ///   - headers: Fields to send besides Host, such as User-Agent.
    ///   - authenticator: Answers a proxy that asks for credentials; nil for none.
    ///   - limits: Of these, `headSize` and `headFields` bound the answer.
    /// - Throws: ``ProxyError`` with the code `invalidRequest` if it is no host with a port.
    package init(
        host: String,
        port: Int,
        headers: HTTPFields = [:],
        authenticator: Authenticator? = nil,
        limits: HTTPLimits = .internet
    ) throws(ProxyError) {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        guard (1...65_535).contains(port), let authority = Authority("\(name):\(port)"), authority.port == port else {
            throw ProxyError(.invalidRequest, "\(Quotation.of(name)):\(port) is no host with a port")
        }
        target = "\(authority.host):\(port)"
        self.headers = headers
        self.authenticator = authenticator
        self.limits = limits
        parser = ResponseHeadParser(limits: limits)
    }

    /// The request to send on a new connection to the proxy.
    package mutating func start() -> [UInt8] {
        state = .head
        parser = ResponseHeadParser(limits: limits)
        interimResponses = 0
        matched = 0
        return request()
    }

    /// How many bytes may be taken from the connection without taking one of the tunnel's: at least 1.
    package var wanted: Int {
        switch state {
        case .head: max(1, 4 - matched)
        default: 1
        }
    }

    /// Takes input up to the end of the answer, and says what to do next.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: What to do next; after ``ProxyStep/established`` nothing more is taken.
    /// - Throws: ``ProxyError``; the same again at each further call.
    package mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep {
        do throws(ProxyError) {
            while position < input.count {
                let step = try advance(input, from: &position)
                if step != .wait { return step }
                if case .done = state { return .wait }
            }
            return .wait
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Takes note that the stream has ended before the tunnel was made.
    ///
    /// - Returns: ``ProxyStep/reconnect`` if it ended within a refusal that a new connection may answer.
    /// - Throws: ``ProxyError``.
    package mutating func finish() throws(ProxyError) -> ProxyStep {
        switch state {
        case .body: return .reconnect
        case .failed(let error): throw error
        case .idle, .head, .done:
            let error = ProxyError(.connectionClosed, "the proxy closed the connection before it answered")
            state = .failed(error)
            throw error
        }
    }

    private mutating func request() -> [UInt8] {
        var bytes: [UInt8] = []
        HeadWriter.append("CONNECT \(target) HTTP/1.1", to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        HeadWriter.append("Host", target, to: &bytes)
        var headers = headers.filter { $0.name.canonicalName != "host" }
        if let value = authenticator?.value(method: "CONNECT", target: target) {
            headers[.proxyAuthorization] = value
        }
        HeadWriter.append(headers, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        return bytes
    }

    private mutating func advance(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep {
        switch state {
        case .head:
            guard let head = try parse(input, from: &position) else { return .wait }
            return try take(head)
        case .body(var decoder, let head):
            state = .done
            let isComplete = decode(&decoder, input, from: &position)
            guard let isComplete else { return .reconnect }
            state = .body(decoder, head)
            return isComplete ? .send(again()) : .wait
        case .idle, .done: return .wait
        case .failed(let error): throw error
        }
    }

    /// Whether the body is complete; nil if it can't be read.
    private func decode(
        _ decoder: inout BodyDecoder,
        _ input: Span<UInt8>,
        from position: inout Int
    ) -> Bool? {
        var body: [UInt8] = []
        return try? decoder.decode(input, from: &position, into: &body)
    }

    private mutating func again() -> [UInt8] {
        state = .head
        matched = 0
        return request()
    }

    private mutating func parse(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(ProxyError) -> ResponseHead? {
        let start = position
        do throws(HTTPProtocolError) {
            let head = try parser.parse(input, from: &position)
            for index in start..<position { note(input[index]) }
            return head
        } catch {
            throw ProxyError(.malformedAnswer, "the proxy's answer isn't HTTP/1.1: \(error.message)")
        }
    }

    /// Counts how much of the CR LF CR LF of the head's end has come.
    private mutating func note(_ byte: UInt8) {
        let expected = matched % 2 == 0 ? Grammar.carriageReturn : Grammar.lineFeed
        matched = byte == expected ? min(3, matched + 1) : (byte == Grammar.carriageReturn ? 1 : 0)
    }

    private mutating func take(_ head: ResponseHead) throws(ProxyError) -> ProxyStep {
        matched = 0
        switch head.status.kind {
        case .successful:
            // RFC 9110 section 9.3.6: any 2xx, and Content-Length and Transfer-Encoding in it mean nothing.
            state = .done
            authenticator?.accepted()
            return .established
        case .informational where interimResponses < Self.interimBound && head.status != .switchingProtocols:
            interimResponses += 1
            return .wait
        default: return try refused(head)
        }
    }

    private mutating func refused(_ head: ResponseHead) throws(ProxyError) -> ProxyStep {
        guard head.status.code == 407 else { throw Self.error(head) }
        let challenges = AuthenticationChallenge.parse(head.headers[values: .proxyAuthenticate])
        guard authenticator?.challenged(challenges) == true else { throw Self.error(head) }
        let framing = try? head.framing(answering: .connect)
        var bounded = limits
        bounded.bodySize = .bytes(Self.bodyBound)
        let hasPersistence = head.keepsAlive && !head.headers.hasToken("close", in: Self.proxyConnection)
        guard hasPersistence, let framing, framing != .untilClose,
            let decoder = try? BodyDecoder(framing, limits: bounded, isResponse: true)
        else {
            state = .done
            return .reconnect
        }
        if decoder.isComplete { return .send(again()) }
        state = .body(decoder, head)
        return .wait
    }

    private static let proxyConnection = HTTPField.Name("Proxy-Connection") ?? .connection

    private static func error(_ head: ResponseHead) -> ProxyError {
        let code: ProxyError.Code =
            switch head.status.code {
            case 407: .unauthorized
            case 403, 405, 451: .forbidden
            case 502, 503, 504: .unreachable
            default: .refused
            }
        var message = "the proxy answered \(head.status.code) to CONNECT"
        if head.status.code == 407 {
            let schemes = AuthenticationChallenge.parse(head.headers[values: .proxyAuthenticate]).map(\.scheme)
            message += schemes.isEmpty ? "" : ", and asks for credentials by \(schemes.joined(separator: " or "))"
        }
        return ProxyError(code, message, response: head)
    }
}
