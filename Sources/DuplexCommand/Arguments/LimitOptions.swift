// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexWire

/// The names of the presets of limits.
enum LimitsPreset: String, ExpressibleByArgument, CaseIterable, Sendable {
    case internet
    case local
    case unlimited

    var limits: ServerLimits {
        switch self {
        case .internet: .internet
        case .local: .local
        case .unlimited: .unlimited
        }
    }
}

/// What the peer may make this side hold.
struct LimitOptions: ParsableArguments {
    @Option(name: .customLong("limits"), help: "What the peer may make this side hold. Default: internet.")
    var preset: LimitsPreset?

    @Option(
        help: ArgumentHelp(
            "The longest message accepted, such as 64KiB or unlimited. Default: the preset's, 1MiB, 64MiB, unlimited.",
            valueName: "size"
        )
    )
    var maxMessage: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The most frames that one message may have. Default: the preset's, 4096, 65536, unlimited.",
            valueName: "count"
        )
    )
    var maxFragments: Int?

    @Option(
        help: ArgumentHelp(
            "The most messages read from the peer in a second, control frames counted. Default: any number.",
            valueName: "count"
        )
    )
    var messageRate: Int?

    @Option(
        help: ArgumentHelp(
            "The most bytes of messages read from the peer in a second, such as 64KiB. Default: any number.",
            valueName: "size"
        )
    )
    var byteRate: ByteCount?

    func validate() throws {
        if let maxFragments, maxFragments < 1 {
            throw ValidationError("A message has at least one frame, so --max-fragments must be 1 or more.")
        }
        if let messageRate, messageRate < 1 {
            throw ValidationError("Nothing would ever be read, so --message-rate must be 1 or more.")
        }
        if let byteRate, byteRate.bytes < 1 {
            throw ValidationError("Nothing would ever be read, so --byte-rate must be 1 or more.")
        }
    }

    private var presetLimits: ServerLimits { (preset ?? .internet).limits }

    /// Of the messages of either side.
    var messages: MessageLimits {
        var limits = presetLimits.messages
        if let maxMessage { limits = limits.with(messageSize: maxMessage) }
        if let maxFragments { limits = limits.with(fragments: maxFragments) }
        limits.messageRate = messageRate.map { .perSecond($0) }
        if let byteRate, byteRate != .unlimited { limits.byteRate = .perSecond(byteRate) }
        return limits
    }

    /// Of the responses that a client gets.
    var http: HTTPLimits { presetLimits.http }

    /// Of a server.
    var server: ServerLimits {
        var limits = presetLimits
        limits.messages = messages
        return limits
    }
}
