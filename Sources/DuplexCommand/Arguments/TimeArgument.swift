// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets

/// A time on the command line: `10s`, `1.5`, `250ms`, `2m`, `100us`, `1h`; seconds when there is no unit.
struct TimeArgument: ExpressibleByArgument, Sendable, Hashable {
    let duration: Duration
    private let text: String

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isWholeNumber || $0 == ".") }
        guard let count = Self.number(digits), let unit = Self.units[String(argument.dropFirst(digits.count))] else {
            return nil
        }
        let seconds = count * unit
        // Beyond a century a deadline is the same as none, and the arithmetic would overflow.
        guard seconds <= 100 * 365 * 86_400 else { return nil }
        duration = .seconds(seconds)
        text = argument
    }

    private init(_ duration: Duration, _ text: String) {
        self.duration = duration
        self.text = text
    }

    /// A number of seconds, for defaults.
    static func seconds(_ count: Int) -> TimeArgument {
        TimeArgument(.seconds(count), "\(count)s")
    }

    var defaultValueDescription: String { text }

    /// Refuses no time at all, by the rule of the libraries.
    ///
    /// - Parameter name: Of the option.
    /// - Throws: `ValidationError`.
    func check(as name: String) throws {
        if let fault = DurationSetting(name, duration).fault { throw ValidationError(fault) }
    }

    /// Digits with at most one point between them: `Double` alone would take more.
    private static func number(_ digits: Substring) -> Double? {
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty } ? Double(digits) : nil
    }

    private static let units = ["": 1, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3_600]
}

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
