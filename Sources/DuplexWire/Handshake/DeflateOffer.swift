// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One offer of permessage-deflate, as a client makes it (RFC 7692 section 7.1).
public struct DeflateOffer: Sendable, Hashable {
    /// What a client says about the window that it deflates with (RFC 7692 section 7.1.2.2).
    public enum ClientWindow: Sendable, Hashable {
        /// The server may bound the window.
        case any
        /// The server may bound the window, and the client's is no larger than that in any case.
        case atMost(Int)
    }

    /// Whether the server is to forget each message before the next one (section 7.1.1.1).
    public var serverNoContextTakeover = false
    /// Whether the client says that it forgets each message before the next one (section 7.1.1.2).
    public var clientNoContextTakeover = false
    /// The largest window that the server may deflate with, as an exponent of 8 to 15; `nil` for any (section 7.1.2.1).
    public var serverMaxWindowBits: Int?
    /// What the server may ask of the client's window; `nil` if it may ask nothing (section 7.1.2.2).
    public var clientMaxWindowBits: ClientWindow?

    /// Makes an offer without parameters.
    public init() {}

    /// Reads an offer.
    ///
    /// Is `nil` for another extension, and for an offer that a server must decline (section 7.1): a parameter that isn't
    /// defined, comes twice, or has a value that it must not have.
    ///
    /// - Parameter offer: as it was parsed.
    public init?(_ offer: ExtensionOffer) {
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
    public var extensionOffer: ExtensionOffer {
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
}
