// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The proof that the other side has read a WebSocket handshake (RFC 6455 sections 1.3 and 4.2.2).
///
/// The client sends 16 random bytes in base64, and the server answers with a digest over them. It keeps caches and
/// servers of other protocols from seeming to agree; it's no secret and proves no identity.
public enum AcceptKey {
    /// A SHA-1 digest: takes any bytes and returns 20 (RFC 3174).
    ///
    /// It is handed in, since this module computes no digests.
    public typealias Digest = @Sendable ([UInt8]) -> [UInt8]

    /// The number of random bytes in a key.
    public static let nonceSize = 16

    /// What every key is joined with before it's digested (RFC 6455 section 1.3).
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The value of Sec-WebSocket-Accept that answers a key.
    ///
    /// - Parameters:
    ///   - key: The value of Sec-WebSocket-Key, without white space around it.
    ///   - digest: SHA-1.
    /// - Returns: The digest in base64.
    public static func acceptValue(for key: String, digest: Digest) -> String {
        Base64.encode(digest(Array(key.utf8) + Array(identifier.utf8)))
    }

    /// The value of Sec-WebSocket-Key for 16 random bytes.
    public static func key(from nonce: [UInt8]) -> String { Base64.encode(nonce) }

    /// Whether the value is 16 bytes in base64 (RFC 6455 section 4.2.1, item 5).
    ///
    /// Padding may be missing, and the bits after the last byte may be any, as in the example of section 4.1.
    public static func isKey(_ value: String) -> Bool {
        // The length comes first, so that a long value is never decoded.
        value.utf8.count <= 24 && Base64.decode(value)?.count == nonceSize
    }
}
