// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A duration that a caller has set, by an argument or an option, and the one rule for all of them: it is longer than zero.
///
/// "No limit" is `nil` where a limit may be left out. Each kind of error makes its own `invalidArgument` of ``fault``.
package struct DurationSetting: Sendable {
    /// The name of the argument or option, as the caller writes it.
    package let name: String
    package let value: Duration?
    private let isOptional: Bool
    private let allowsZero: Bool

    /// A duration that has to be there.
    ///
    /// - Parameters:
    ///   - name: As the caller writes it.
    ///   - value: The duration.
    ///   - allowsZero: Whether zero has a meaning that its documentation names. Default: false.
    package init(_ name: String, _ value: Duration, allowsZero: Bool = false) {
        self.init(name: name, value: value, isOptional: false, allowsZero: allowsZero)
    }

    /// A duration that may be left out; see ``init(_:_:allowsZero:)``.
    package init(_ name: String, optional value: Duration?, allowsZero: Bool = false) {
        self.init(name: name, value: value, isOptional: true, allowsZero: allowsZero)
    }

    private init(name: String, value: Duration?, isOptional: Bool, allowsZero: Bool) {
        self.name = name
        self.value = value
        self.isOptional = isOptional
        self.allowsZero = allowsZero
    }

    /// Why the duration can't be used; `nil` if it can.
    package var fault: String? {
        guard let value, value < .zero || value == .zero && !allowsZero else { return nil }
        let rule = allowsZero ? "can't be negative" : "has to be longer than zero"
        let advice = isOptional ? " nil, the default, sets none." : ""
        return "\(name) is \(value.rounded), and \(rule).\(advice)"
    }

    fileprivate func within(_ outer: String) -> DurationSetting {
        DurationSetting(name: "\(outer).\(name)", value: value, isOptional: isOptional, allowsZero: allowsZero)
    }
}

extension Duration {
    /// The duration, or the longest one that a clock of the standard library can add to its time: 292 years.
    ///
    /// Sleeping for longer would stop the process.
    package var forSleeping: Duration { min(self, .nanoseconds(Int64.max)) }

    /// The duration for people: `10.0 seconds`, `250 ms` or `40 µs`.
    package var rounded: String {
        let seconds = self / .seconds(1)
        // From where on rounding would give a thousand of the smaller unit.
        // Beyond that there is nothing to round, and tenths don't fit 64 bits.
        if abs(seconds) >= 1e15 { return "\(components.seconds) seconds" }
        if abs(seconds) >= 0.9995 {
            let tenths = Int((abs(seconds) * 10).rounded())
            return "\(seconds < 0 ? "-" : "")\(tenths / 10).\(tenths % 10) seconds"
        }
        let milliseconds = seconds * 1_000
        if abs(milliseconds) >= 0.9995 { return "\(Int(milliseconds.rounded())) ms" }
        return "\(Int((milliseconds * 1_000).rounded())) µs"
    }
}

extension [DurationSetting] {
    /// The fault of the first of them that has one.
    package var fault: String? { lazy.compactMap(\.fault).first }

    /// The same for settings that belong to a setting of that name.
    package func within(_ name: String) -> [DurationSetting] {
        map { $0.within(name) }
    }
}
