// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The next thing that a message's body has: some of its bytes, or its end.
public enum BodyPiece: Sendable, Hashable {
    /// Bytes of the body, by their place in the input that was handed in; never empty.
    case data(Range<Int>)
    /// The body is complete, with the fields that followed a chunked one (RFC 9112 section 7.1.2).
    ///
    /// Fields that may not come so late are left out (RFC 9110 section 6.5.1). Bodies in another framing have none.
    case end(trailers: HTTPFields)
}
