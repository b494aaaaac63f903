// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser

/// A time on the command line as ``TimeArgument`` has it, or `unlimited`.
struct TimeLimitArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The time; `nil` without a limit.
    let duration: Duration?

    init?(argument: String) {
        if argument == "unlimited" {
            duration = nil
        } else {
            guard let time = TimeArgument(argument: argument) else { return nil }
            duration = time.duration
        }
    }
}
