// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// An extension with its parameters, offered by a client or accepted by a server (RFC 6455 section 9.1).
public struct ExtensionOffer: Sendable, Hashable {
    /// A parameter of an extension.
    public struct Parameter: Sendable, Hashable {
        /// The name; a token.
        public let name: String
        /// The value without quotation marks, a token as well; nil where there is none.
        public let value: String?

        /// Makes a parameter, or is nil if the name or the value isn't a token.
        public init?(_ name: String, _ value: String? = nil) {
            guard Grammar.isToken(name), value.map(Grammar.isToken) ?? true else { return nil }
            self.name = name
            self.value = value
        }
    }

    /// The registered name, such as `permessage-deflate`; a token.
    public let name: String
    /// The parameters in their order; a name may come twice, which the extension itself has to judge.
    public let parameters: [Parameter]

    /// Makes an offer, or is nil if the name isn't a token.
    public init?(_ name: String, parameters: [Parameter] = []) {
        guard Grammar.isToken(name) else { return nil }
        self.name = name
        self.parameters = parameters
    }

    /// Makes an offer with a name that is known to be a token.
    init(token name: String, parameters: [Parameter]) {
        self.name = name
        self.parameters = parameters
    }
}

extension ExtensionOffer: CustomStringConvertible {
    /// The offer as it stands in a field, such as `permessage-deflate; client_max_window_bits=12`.
    public var description: String {
        name + parameters.map { "; " + $0.name + ($0.value.map { "=" + $0 } ?? "") }.joined()
    }
}
