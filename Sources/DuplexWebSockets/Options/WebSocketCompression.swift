// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
public import DuplexWire

/// Whether messages are compressed, by permessage-deflate (RFC 7692), and how.
///
/// `.enabled`, `.required` or `.disabled`, or parameters of your own, for clients and servers alike.
/// ``WebSocket/compression`` has the agreement, if there is one.
///
/// Compression reveals the length of what it compresses: where a message holds a secret beside what an attacker
/// chooses, send it with `compress: false` (RFC 7692 section 8).
public struct WebSocketCompression: Sendable, Hashable {
    /// What is agreed on, and how this side deflates; `nil` if compression is off.
    package var parameters: CompressionParameters?
    /// Whether no connection is opened without compression.
    ///
    /// Default: false.
    package var isRequired = false
    /// Whether a client's offer names the parameters.
    private var namesParameters = false

    private init(_ parameters: CompressionParameters?, isRequired: Bool = false, namesParameters: Bool = false) {
        self.parameters = parameters
        self.isRequired = isRequired
        self.namesParameters = namesParameters
    }

    /// Messages aren't compressed; a server declines it when it is offered.
    public static let disabled = WebSocketCompression(nil)
    /// Messages are compressed if both sides want that.
    ///
    /// A client offers compression as browsers do, by `permessage-deflate; client_max_window_bits`, and the server may
    /// decline it; the server chooses both windows, of which this side's is one of 12 bits at most. A server accepts
    /// compression that is offered, with the default parameters.
    public static let enabled = WebSocketCompression(CompressionParameters())
    /// The connection is opened with compression or not at all; offered and accepted as ``enabled``.
    public static let required = WebSocketCompression(CompressionParameters(), isRequired: true)

    /// Compression with parameters of your own, which a client's offer names.
    ///
    /// A server that doesn't know them may take the offer after it, which is that of ``enabled``; some refuse the
    /// handshake.
    ///
    /// - Parameters:
    ///   - parameters: what is to be agreed on, and how this side deflates.
    ///   - isRequired: whether to open no connection without compression. Default: false.
    /// - Returns: the choice.
    public static func parameters(_ parameters: CompressionParameters, isRequired: Bool = false) -> WebSocketCompression
    {
        WebSocketCompression(parameters, isRequired: isRequired, namesParameters: true)
    }

    /// What the handshake is made with.
    package var negotiation: DeflateNegotiation? {
        guard var negotiation = parameters?.negotiation else { return nil }
        // Parameters may be changed in place as well.
        let areDefaults = negotiation == DeflateNegotiation()
        negotiation.namesSettings = namesParameters || !areDefaults
        return negotiation
    }
}

/// What compression is to be agreed on, and how this side deflates.
///
/// What deflates and inflates belongs to the event loop. A connection whose messages refer to earlier ones holds a window in
/// either direction, which grows as it fills: with the defaults up to 4 KiB each; up to 32 KiB for what arrives at a client
/// that doesn't name its parameters, from a server that doesn't bound its window. That of what it sends is given back when
/// no compressed message went for an interval of pings. In the middle of a message that arrives, while others use what the
/// loop has, a connection holds up to 22 KiB more, and up to 64 KiB of the message that it hasn't taken yet.
public struct CompressionParameters: Sendable, Hashable {
    /// Whether the server's messages may refer to those before them (`server_no_context_takeover` if not).
    ///
    /// Default: yes.
    public var serverContextTakeover = true
    /// Whether the client's messages may refer to those before them (`client_no_context_takeover` if not).
    ///
    /// Default: yes.
    public var clientContextTakeover = true
    /// The largest window for the server's messages, as an exponent from 8 (256 bytes) to 15 (32 KiB).
    ///
    /// Default: 12.
    public var serverWindowBits = 12
    /// The largest window for the client's messages, as an exponent from 8 (256 bytes) to 15 (32 KiB).
    ///
    /// Default: 12.
    public var clientWindowBits = 12
    /// How hard to try: from 1, the fastest, to 9, the tightest.
    ///
    /// Default: 6.
    ///
    /// The numbers are zlib's. The library that deflates, ISA-L, has four levels: 1 is its 0, 2 to 6 its 1, 7 and 8 its 2, 9
    /// its 3.
    public var level = 6
    /// Messages shorter than that are sent as they are.
    ///
    /// Default: 256 bytes if this side's messages don't refer to earlier ones, and none if they do, since short
    /// messages that repeat each other then shrink most.
    public var threshold: ByteCount?

    /// The defaults.
    public init() {}

    var negotiation: DeflateNegotiation {
        var negotiation = DeflateNegotiation()
        negotiation.serverContextTakeover = serverContextTakeover
        negotiation.clientContextTakeover = clientContextTakeover
        negotiation.serverWindowBits = serverWindowBits
        negotiation.clientWindowBits = clientWindowBits
        return negotiation
    }
}

/// What a handshake has agreed on, and how this side deflates.
package struct AgreedCompression: Sendable {
    package var agreement: DeflateAgreement
    package var parameters: CompressionParameters

    /// What is agreed on; `nil` for nothing.
    package init?(_ agreement: DeflateAgreement?, _ compression: WebSocketCompression) {
        guard let agreement, let parameters = compression.parameters else { return nil }
        self.agreement = agreement
        self.parameters = parameters
    }

    /// What the connection's session is made with; it shares what it can with the others of the pool.
    ///
    /// - Parameters:
    ///   - role: this side.
    ///   - pool: that of the connection's loop.
    ///   - givesBack: whether messages are lent to a handler, and given back.
    /// - Returns: the compression.
    func make(_ role: WebSocketSession.Role, _ pool: DeflatePool, givesBack: Bool) -> MessageCompression {
        let wanted = role == .client ? parameters.clientContextTakeover : parameters.serverContextTakeover
        let takesOver = wanted && agreement.takesOver(role)
        return pool.compression(
            agreement,
            role: role,
            settings: Deflater.Settings(
                windowBits: role == .client ? parameters.clientWindowBits : parameters.serverWindowBits,
                level: parameters.level
            ),
            takesOver: takesOver,
            threshold: parameters.threshold?.bytes ?? (takesOver ? 0 : 256),
            givesBack: givesBack
        )
    }
}
