// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What one side wants of permessage-deflate, and the rules by which it comes to an agreement (RFC 7692 section 7.1).
package struct DeflateNegotiation: Sendable, Hashable {
    /// Whether the server's messages may refer to those before them.
    ///
    /// Default: yes.
    package var serverContextTakeover = true
    /// Whether the client's messages may refer to those before them.
    ///
    /// Default: yes.
    package var clientContextTakeover = true
    /// The largest window for the server's messages, as an exponent, 8 to 15; others are taken as the nearest of these.
    ///
    /// Default: 12.
    package var serverWindowBits = 12
    /// The largest window for the client's messages, as an exponent, 8 to 15; others are taken as the nearest of these.
    ///
    /// Default: 12.
    package var clientWindowBits = 12

    /// Whether a client's first offer names these settings; one that doesn't is what browsers send.
    ///
    /// Some gateways refuse a handshake for a parameter with a value. Default: true.
    package var namesSettings = true

    /// The smallest window that a server answers with: zlib, and who uses it, has none of 8 for raw deflate.
    package static let smallestDeflatingWindow = 9

    /// The defaults: windows of 12 bits, and context taken over.
    package init() {}

    private static func bounded(_ bits: Int) -> Int { min(max(bits, 8), 15) }

    // MARK: The client

    /// What a client offers, the preferred one first.
    ///
    /// Without names for its settings it is the offer that browsers make, `permessage-deflate; client_max_window_bits`,
    /// and nothing else: the server's window is then what the server says, 15 bits at most.
    ///
    /// A server that can't bound its own window, or can't forget, has to decline an offer that asks for it (sections
    /// 7.1.1.1 and 7.1.2.1), and some take no parameter with a value. So after an offer with either comes a bare one,
    /// in which the client only says that it can be asked for a window. It keeps to its own settings whatever is agreed
    /// on.
    package var offers: [DeflateOffer] {
        var bare = DeflateOffer()
        bare.clientMaxWindowBits = .any
        guard namesSettings else { return [bare] }
        var preferred = bare
        preferred.serverNoContextTakeover = !serverContextTakeover
        preferred.clientNoContextTakeover = !clientContextTakeover
        let serverBits = Self.bounded(serverWindowBits)
        if serverBits < 15 { preferred.serverMaxWindowBits = serverBits }
        let clientBits = Self.bounded(clientWindowBits)
        if clientBits < 15 { preferred.clientMaxWindowBits = .atMost(clientBits) }
        return preferred == bare ? [bare] : [preferred, bare]
    }

    /// What a server's answer agrees to.
    ///
    /// - Parameters:
    ///   - answer: the extension in the server's answer, as it was parsed.
    ///   - offers: what was offered.
    /// - Returns: `nil` when the answer isn't one that may be given to any of the offers, so that the handshake fails
    ///   (section 7.1).
    package static func agreement(_ answer: ExtensionOffer, to offers: [DeflateOffer]) -> DeflateAgreement? {
        guard let agreement = DeflateAgreement(answer), let fields = DeflateFields(answer) else { return nil }
        return offers.contains { fields.answers($0) } ? agreement : nil
    }

    // MARK: The server

    /// Answers the first offer that can be accepted.
    ///
    /// - Parameter offers: all extensions that the client offers, in its order.
    /// - Returns: the answer and what it agrees to; `nil` when there is no offer that can be accepted.
    package func accept(_ offers: [ExtensionOffer]) -> (answer: ExtensionOffer, agreement: DeflateAgreement)? {
        for offer in offers.lazy.compactMap({ DeflateOffer($0) }) {
            if let answer = answer(offer) { return answer }
        }
        return nil
    }

    private func answer(_ offer: DeflateOffer) -> (answer: ExtensionOffer, agreement: DeflateAgreement)? {
        var fields = DeflateFields()
        fields.serverNoContextTakeover = offer.serverNoContextTakeover || !serverContextTakeover
        fields.clientNoContextTakeover = offer.clientNoContextTakeover || !clientContextTakeover
        let serverBits = min(Self.bounded(serverWindowBits), offer.serverMaxWindowBits ?? 15)
        // Declining is right for a server that won't deflate with what is asked of it (section 7.1.2.1); one that was
        // set to 8 itself uses 9 where the client allows it.
        if let asked = offer.serverMaxWindowBits {
            guard asked >= Self.smallestDeflatingWindow else { return nil }
            fields.serverMaxWindowBits = .value(max(serverBits, Self.smallestDeflatingWindow))
        } else if serverBits < 15 {
            fields.serverMaxWindowBits = .value(max(serverBits, Self.smallestDeflatingWindow))
        }
        // A client that didn't name its window must not be given one, and may use all of 15 (section 7.1.2.2).
        switch offer.clientMaxWindowBits {
        case nil: break
        case .any: fields.clientMaxWindowBits = .value(Self.bounded(clientWindowBits))
        case .atMost(let bits): fields.clientMaxWindowBits = .value(min(bits, Self.bounded(clientWindowBits)))
        }
        let answer = fields.extensionOffer
        return DeflateAgreement(answer).map { (answer, $0) }
    }
}

/// One offer of permessage-deflate, as a client makes it (RFC 7692 section 7.1).
package struct DeflateOffer: Sendable, Hashable {
    /// What a client says about the window that it deflates with (RFC 7692 section 7.1.2.2).
    package enum ClientWindow: Sendable, Hashable {
        /// The server may bound the window.
        case any
        /// The server may bound the window, and the client's is no larger than that in any case.
        case atMost(Int)
    }

    /// Whether the server is to forget each message before the next one (section 7.1.1.1).
    package var serverNoContextTakeover = false
    /// Whether the client says that it forgets each message before the next one (section 7.1.1.2).
    package var clientNoContextTakeover = false
    /// The largest window that the server may deflate with, as an exponent of 8 to 15; `nil` for any (section 7.1.2.1).
    package var serverMaxWindowBits: Int?
    /// What the server may ask of the client's window; `nil` if it may ask nothing (section 7.1.2.2).
    package var clientMaxWindowBits: ClientWindow?

    /// Makes an offer without parameters.
    package init() {}

    /// Reads an offer.
    ///
    /// Is `nil` for another extension, and for an offer that a server must decline (section 7.1): a parameter that isn't
    /// defined, comes twice, or has a value that it must not have.
    ///
    /// - Parameter offer: as it was parsed.
    package init?(_ offer: ExtensionOffer) {
        guard let fields = DeflateFields(offer) else { return nil }
        serverNoContextTakeover = fields.serverNoContextTakeover
        clientNoContextTakeover = fields.clientNoContextTakeover
        switch fields.serverMaxWindowBits {
        case .absent: break
        case .withoutValue: return nil
        case .value(let bits): serverMaxWindowBits = bits
        }
        switch fields.clientMaxWindowBits {
        case .absent: break
        case .withoutValue: clientMaxWindowBits = .any
        case .value(let bits): clientMaxWindowBits = .atMost(bits)
        }
    }

    /// The offer as it goes into the field Sec-WebSocket-Extensions.
    package var extensionOffer: ExtensionOffer {
        var fields = DeflateFields()
        fields.serverNoContextTakeover = serverNoContextTakeover
        fields.clientNoContextTakeover = clientNoContextTakeover
        fields.serverMaxWindowBits = serverMaxWindowBits.map { .value($0) } ?? .absent
        switch clientMaxWindowBits {
        case nil: break
        case .any: fields.clientMaxWindowBits = .withoutValue
        case .atMost(let bits): fields.clientMaxWindowBits = .value(bits)
        }
        return fields.extensionOffer
    }
}

/// The parameters of permessage-deflate as they stand in an offer or in an answer.
struct DeflateFields {
    static let name = "permessage-deflate"

    /// A window in its place.
    enum Window: Equatable {
        case absent
        case withoutValue
        case value(Int)
    }

    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverMaxWindowBits = Window.absent
    var clientMaxWindowBits = Window.absent

    init() {}

    /// Is `nil` for another extension, and for what section 7.1 declines whoever says it.
    init?(_ offer: ExtensionOffer) {
        guard offer.name == Self.name else { return nil }
        for parameter in offer.parameters {
            guard take(parameter) else { return nil }
        }
    }

    private mutating func take(_ parameter: ExtensionOffer.Parameter) -> Bool {
        switch parameter.name {
        case "server_no_context_takeover":
            guard parameter.value == nil, !serverNoContextTakeover else { return false }
            serverNoContextTakeover = true
        case "client_no_context_takeover":
            guard parameter.value == nil, !clientNoContextTakeover else { return false }
            clientNoContextTakeover = true
        case "server_max_window_bits": return Self.take(parameter.value, into: &serverMaxWindowBits)
        case "client_max_window_bits": return Self.take(parameter.value, into: &clientMaxWindowBits)
        default: return false
        }
        return true
    }

    /// A decimal number from 8 to 15 without leading zeros (sections 7.1.2.1 and 7.1.2.2).
    private static func take(_ value: String?, into window: inout Window) -> Bool {
        guard window == .absent else { return false }
        guard let value else {
            window = .withoutValue
            return true
        }
        guard let bits = (8...15).first(where: { String($0) == value }) else { return false }
        window = .value(bits)
        return true
    }

    var extensionOffer: ExtensionOffer {
        var parameters: [ExtensionOffer.Parameter?] = []
        if serverNoContextTakeover { parameters.append(.init("server_no_context_takeover")) }
        if clientNoContextTakeover { parameters.append(.init("client_no_context_takeover")) }
        for (name, window) in [
            ("server_max_window_bits", serverMaxWindowBits), ("client_max_window_bits", clientMaxWindowBits),
        ] {
            switch window {
            case .absent: break
            case .withoutValue: parameters.append(.init(name))
            case .value(let bits): parameters.append(.init(name, String(bits)))
            }
        }
        return ExtensionOffer(token: Self.name, parameters: parameters.compactMap(\.self))
    }

    /// Whether a server may give this answer to that offer.
    func answers(_ offer: DeflateOffer) -> Bool {
        // Section 7.1.1.1: what the client asks for is confirmed, or the offer isn't accepted.
        if offer.serverNoContextTakeover && !serverNoContextTakeover { return false }
        // Section 7.1.2.1: the same or a smaller window.
        if let asked = offer.serverMaxWindowBits {
            guard case .value(let bits) = serverMaxWindowBits, bits <= asked else { return false }
        }
        // Section 7.1.2.2: only a client that has named its window can be asked for one. A value in the offer is a hint
        // that the server may ignore.
        return clientMaxWindowBits == .absent || offer.clientMaxWindowBits != nil
    }
}

/// What a client and a server have agreed on for permessage-deflate: the server's answer (RFC 7692 section 7.1).
public struct DeflateAgreement: Sendable, Hashable {
    /// Whether the server forgets each message before the next one (section 7.1.1.1).
    package var serverNoContextTakeover = false
    /// Whether the client forgets each message before the next one (section 7.1.1.2).
    package var clientNoContextTakeover = false
    /// The largest window that the server deflates with, as an exponent of 8 to 15 (section 7.1.2.1).
    package var serverMaxWindowBits = 15
    /// The largest window that the client deflates with, as an exponent of 8 to 15 (section 7.1.2.2).
    package var clientMaxWindowBits = 15

    /// Makes an agreement without parameters: whole windows, and context taken over.
    package init() {}

    /// Reads an answer.
    ///
    /// Is `nil` for another extension, and for an answer that no server may give: a parameter that isn't defined, comes
    /// twice, or has a value that it must not have; in an answer both windows have one.
    ///
    /// - Parameter answer: as it was parsed.
    package init?(_ answer: ExtensionOffer) {
        guard let fields = DeflateFields(answer) else { return nil }
        let windows = [fields.serverMaxWindowBits, fields.clientMaxWindowBits]
        if windows.contains(.withoutValue) { return nil }
        serverNoContextTakeover = fields.serverNoContextTakeover
        clientNoContextTakeover = fields.clientNoContextTakeover
        if case .value(let bits) = fields.serverMaxWindowBits { serverMaxWindowBits = bits }
        if case .value(let bits) = fields.clientMaxWindowBits { clientMaxWindowBits = bits }
    }
}

extension DeflateAgreement: CustomStringConvertible {
    /// The agreement as a server would answer it, such as `permessage-deflate; server_max_window_bits=12`; windows of
    /// 15 are left out.
    public var description: String {
        var fields = DeflateFields()
        fields.serverNoContextTakeover = serverNoContextTakeover
        fields.clientNoContextTakeover = clientNoContextTakeover
        if serverMaxWindowBits < 15 { fields.serverMaxWindowBits = .value(serverMaxWindowBits) }
        if clientMaxWindowBits < 15 { fields.clientMaxWindowBits = .value(clientMaxWindowBits) }
        return fields.extensionOffer.description
    }
}
