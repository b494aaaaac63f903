// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where a client takes its masking keys from: each must be fresh and unpredictable (RFC 6455 section 10.3).
///
/// A reference, because sessions of servers have none and all have a place for it.
public final class MaskingKeys: Sendable {
    private let draw: @Sendable () -> UInt32

    /// A source that is asked once for each frame.
    public init(_ draw: @escaping @Sendable () -> UInt32) {
        self.draw = draw
    }

    func next() -> UInt32 {
        draw()
    }
}
