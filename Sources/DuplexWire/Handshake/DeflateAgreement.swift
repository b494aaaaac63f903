// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a client and a server have agreed on for permessage-deflate: the server's answer (RFC 7692 section 7.1).
public struct DeflateAgreement: Sendable, Hashable {
    /// Whether the server forgets each message before the next one (section 7.1.1.1).
    public var serverNoContextTakeover = false
    /// Whether the client forgets each message before the next one (section 7.1.1.2).
    public var clientNoContextTakeover = false
    /// The largest window that the server deflates with, as an exponent of 8 to 15 (section 7.1.2.1).
    public var serverMaxWindowBits = 15
    /// The largest window that the client deflates with, as an exponent of 8 to 15 (section 7.1.2.2).
    public var clientMaxWindowBits = 15

    /// Makes an agreement without parameters: whole windows, and context taken over.
    public init() {}

    /// Reads an answer.
    ///
    /// Is `nil` for another extension, and for an answer that no server may give: a parameter that isn't defined, comes
    /// twice, or has a value that it must not have; in an answer both windows have one.
    ///
    /// - Parameter answer: as it was parsed.
    public init?(_ answer: ExtensionOffer) {
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
