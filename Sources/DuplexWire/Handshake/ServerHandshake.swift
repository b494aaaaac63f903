// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The server's part of the handshake that makes a WebSocket of an HTTP/1.1 request (RFC 6455 section 4.2).
public enum ServerHandshake {
    /// What comes of a request.
    public enum Outcome: Sendable, Hashable {
        /// The connection becomes a WebSocket as soon as the response head is on its way.
        case accept(Acceptance)
        /// The request is answered with an error, and the connection stays with HTTP.
        case refuse(Refusal)
    }

    /// An agreement.
    public struct Acceptance: Sendable, Hashable {
        /// The 101 to send; the caller may add fields of its own, such as cookies.
        public var responseHead: ResponseHead
        /// The subprotocol agreed on; nil for none.
        public private(set) var subprotocol: String?
        /// The extensions agreed on, as they are answered.
        package private(set) var extensions: [ExtensionOffer]
        /// What was agreed on for permessage-deflate by ``ServerHandshakeOptions/deflate``; nil for none.
        package private(set) var deflate: DeflateAgreement?

        /// Agrees on another subprotocol than the first that the server prefers.
        ///
        /// - Parameters:
        ///   - subprotocol: one of those that the client asks for (RFC 6455 section 4.2.2).
        ///   - head: the head of the request.
        /// - Returns: whether the client asks for it; nothing changes when it doesn't.
        public mutating func choose(subprotocol: String, askedForIn head: RequestHead) -> Bool {
            guard SubprotocolHeader.parse(head.headers)?.contains(subprotocol) == true else { return false }
            self.subprotocol = subprotocol
            responseHead.headers[.secWebSocketProtocol] = subprotocol
            return true
        }

        /// Declines the client's offer of permessage-deflate after all, if ``deflate`` says that it was accepted.
        package mutating func declineDeflate() {
            guard deflate != nil else { return }
            deflate = nil
            extensions.removeAll { $0.name == DeflateFields.name }
            let answer = extensions.isEmpty ? nil : ExtensionHeader.serialize(extensions)
            responseHead.headers[.secWebSocketExtensions] = answer
        }
    }

    /// A refusal.
    public struct Refusal: Error, Sendable, Hashable {
        /// The status to answer.
        public let status: HTTPResponse.Status
        /// The fields that belong to the status, such as Sec-WebSocket-Version with a 426.
        public let headers: HTTPFields
        /// Why, in plain words; fit to be sent as the body.
        public let message: String
    }

    /// Whether the request asks for a WebSocket at all, well or badly.
    ///
    /// - Parameter head: The head of the request.
    /// - Returns: Whether Upgrade names `websocket`.
    public static func isUpgrade(_ head: RequestHead) -> Bool {
        head.hasUpgrade && head.headers.hasToken("websocket", in: .upgrade)
    }

    /// Judges a request by every rule of RFC 6455 section 4.2.1, and answers it by section 4.2.2.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - options: What the server agrees to.
    ///   - digest: SHA-1.
    /// - Returns: The 101 to send, or what is wrong with the request and the status to refuse it with.
    package static func evaluate(
        _ head: RequestHead,
        options: ServerHandshakeOptions = ServerHandshakeOptions(),
        digest: AcceptKey.Digest
    ) -> Outcome {
        do throws(Refusal) {
            try checkRequest(head)
            try checkVersion(head.headers)
            let key = try key(head.headers)
            let offers = try offers(head.headers)
            try checkOrigin(head, policy: options.origin)
            let subprotocol = try subprotocol(head.headers, options: options)
            var extensions = options.chooseExtensions(offers).filter { answer in
                offers.contains { $0.name == answer.name }
            }
            let isAnswered = extensions.contains { $0.name == DeflateFields.name }
            let deflate = isAnswered ? nil : options.deflate?.accept(offers)
            if let deflate { extensions.append(deflate.answer) }
            return .accept(
                Acceptance(
                    accept: AcceptKey.acceptValue(for: key, digest: digest),
                    subprotocol: subprotocol,
                    extensions: extensions,
                    deflate: deflate?.agreement
                )
            )
        } catch {
            return .refuse(error)
        }
    }

    /// The parts that are HTTP's own: method, version, Upgrade and Connection (items 1, 3 and 4), and no body.
    private static func checkRequest(_ head: RequestHead) throws(Refusal) {
        guard head.method == .get else {
            throw Refusal(.methodNotAllowed, "a WebSocket begins with GET", headers: [.allow: "GET"])
        }
        guard head.version >= .http11 else { throw Refusal(.badRequest, "a WebSocket needs HTTP/1.1 or later") }
        guard isUpgrade(head) else {
            throw Refusal(
                .upgradeRequired,
                "only a WebSocket is served here: Upgrade isn't websocket",
                headers: upgradeFields
            )
        }
        guard head.headers.hasToken("upgrade", in: .connection) else {
            throw Refusal(.badRequest, "Connection doesn't name Upgrade, so a proxy may have swallowed it")
        }
        // What looks like a body to one side and like frames to the other is how requests are smuggled.
        guard head.framing == .none else { throw Refusal(.badRequest, "the request for a WebSocket has a body") }
    }

    /// Item 6; the answer names the one version there is (RFC 6455 section 4.4).
    private static func checkVersion(_ headers: HTTPFields) throws(Refusal) {
        let versions = headers[values: .secWebSocketVersion]
        guard versions == ["13"] else {
            let seen = versions.isEmpty ? "missing" : Quotation.of(versions.joined(separator: ", "))
            throw Refusal(.upgradeRequired, "Sec-WebSocket-Version is \(seen), not 13", headers: upgradeFields)
        }
    }

    /// Item 5.
    private static func key(_ headers: HTTPFields) throws(Refusal) -> String {
        let keys = headers[values: .secWebSocketKey]
        guard keys.count == 1 else {
            throw Refusal(.badRequest, "Sec-WebSocket-Key is given \(keys.count) times, not once")
        }
        guard AcceptKey.isKey(keys[0]) else {
            throw Refusal(.badRequest, "Sec-WebSocket-Key is \(Quotation.of(keys[0])), not 16 bytes in base64")
        }
        return keys[0]
    }

    /// Item 9; a malformed field is an error even for a server that declines every extension.
    private static func offers(_ headers: HTTPFields) throws(Refusal) -> [ExtensionOffer] {
        guard let offers = ExtensionHeader.parse(headers) else {
            throw Refusal(.badRequest, "Sec-WebSocket-Extensions is malformed")
        }
        return offers
    }

    /// Item 7, and RFC 6455 section 10.2.
    private static func checkOrigin(_ head: RequestHead, policy: OriginPolicy) throws(Refusal) {
        let origins = head.headers[values: .origin]
        if origins.count > 1 { throw Refusal(.badRequest, "Origin is given \(origins.count) times") }
        guard policy.allows(origin: origins.first, host: head.host) else {
            let seen = Quotation.of(origins.first ?? "")
            throw Refusal(.forbidden, "pages from the origin \(seen) may not connect to \(Quotation.of(head.host))")
        }
    }

    /// Item 8, and the choice of section 4.2.2: the first that the server prefers and the client asks for.
    private static func subprotocol(
        _ headers: HTTPFields,
        options: ServerHandshakeOptions
    ) throws(Refusal) -> String? {
        guard let asked = SubprotocolHeader.parse(headers) else {
            throw Refusal(.badRequest, "Sec-WebSocket-Protocol isn't a list of different tokens")
        }
        if let chosen = options.subprotocols.first(where: asked.contains) { return chosen }
        guard !options.requiresSubprotocol else {
            let known = options.subprotocols.joined(separator: ", ")
            throw Refusal(.badRequest, "none of the subprotocols that are spoken here (\(known)) is asked for")
        }
        return nil
    }

    // RFC 9110 section 7.8: whoever sends Upgrade also names it in Connection.
    private static var upgradeFields: HTTPFields {
        [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13"]
    }
}

extension ServerHandshake.Acceptance {
    fileprivate init(
        accept: String,
        subprotocol: String?,
        extensions: [ExtensionOffer],
        deflate: DeflateAgreement?
    ) {
        var headers: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: accept]
        if let subprotocol { headers[.secWebSocketProtocol] = subprotocol }
        if !extensions.isEmpty { headers[.secWebSocketExtensions] = ExtensionHeader.serialize(extensions) }
        self.responseHead = ResponseHead(status: .switchingProtocols, headers: headers)
        self.subprotocol = subprotocol
        self.extensions = extensions
        self.deflate = deflate
    }
}

extension ServerHandshake.Refusal {
    fileprivate init(_ status: HTTPResponse.Status, _ message: String, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.message = message
    }
}

/// What a server agrees to in a WebSocket handshake.
public struct ServerHandshakeOptions: Sendable {
    /// Chooses among the extensions that a client offers: takes the offers in the client's order, returns the answers.
    package typealias ExtensionChoice = @Sendable ([ExtensionOffer]) -> [ExtensionOffer]

    /// The subprotocols that the server speaks, the preferred one first; names that aren't tokens are never chosen.
    public var subprotocols: [String] = []
    /// Whether a client that has none of ``subprotocols`` to offer is refused.
    ///
    /// Default: false, and the connection has no subprotocol.
    public var requiresSubprotocol = false
    /// Which browsers' pages may connect.
    ///
    /// Default: those from the same host.
    public var origin = OriginPolicy.sameHost
    /// Chooses among the extensions that a client offers, such as `permessage-deflate`.
    ///
    /// Default: declines all.
    ///
    /// Answers with a name that the client hasn't offered are dropped (RFC 6455 section 9.1).
    package var chooseExtensions: ExtensionChoice = { _ in [] }
    /// How offers of permessage-deflate are answered, if ``chooseExtensions`` doesn't do it.
    ///
    /// Default: nil, which declines them.
    package var deflate: DeflateNegotiation?

    /// Makes options: no subprotocol, no extension, and pages of the same host only.
    public init() {}
}
