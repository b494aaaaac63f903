// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Whether the files of a zip are deflated.
public enum ZipMethod: Sendable, Hashable {
    /// As they are.
    case stored
    /// From 1, the fastest, to 9; but not those whose type gets no shorter.
    ///
    /// Default: 1, which gives most of what there is to be had for a third of the time.
    case deflated(level: Int = 1)

    var level: Int? {
        if case .deflated(let level) = self { level } else { nil }
    }
}
