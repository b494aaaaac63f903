// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWire

/// The names of the presets of ``Limits``.
enum LimitsPreset: String, ExpressibleByArgument, CaseIterable, Sendable {
    case internet
    case local
    case unlimited

    var limits: Limits {
        switch self {
        case .internet: .internet
        case .local: .local
        case .unlimited: .unlimited
        }
    }
}

/// What the peer may make this side hold.
struct LimitOptions: ParsableArguments {
    @Option(name: .customLong("limits"), help: "What the peer may make this side hold.")
    var preset = LimitsPreset.internet

    @Option(
        help: ArgumentHelp(
            "The longest message accepted, such as 64KiB or unlimited; the preset's unless given: 1MiB, 64MiB, unlimited.",
            valueName: "size"
        )
    )
    var maxMessage: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The most frames that one message may have; the preset's unless given: 4096, 65536, unlimited.",
            valueName: "count"
        )
    )
    var maxFragments: Int?

    func validate() throws {
        if let maxFragments, maxFragments < 1 {
            throw ValidationError("A message has at least one frame, so --max-fragments must be 1 or more.")
        }
    }

    var limits: Limits {
        var limits = preset.limits
        if let maxMessage { limits = limits.with(messageSize: maxMessage) }
        if let maxFragments { limits = limits.with(fragments: maxFragments) }
        return limits
    }
}
