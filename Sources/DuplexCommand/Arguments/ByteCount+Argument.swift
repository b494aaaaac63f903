// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import ArgumentParser
public import DuplexWire

extension ByteCount: ExpressibleByArgument {
    /// Reads digits and a unit, or `unlimited`.
    ///
    /// Units are B, KiB, MiB, GiB and the decimal kB, KB, MB, GB; none means bytes. Anything else, also a number that is
    /// too large to be counted, is no size.
    public init?(argument: String) {
        if argument == "unlimited" {
            self = .unlimited
            return
        }
        let digits = argument.prefix { $0.isASCII && $0.isWholeNumber }
        guard let count = Int(digits), let unit = Self.units[String(argument.dropFirst(digits.count))] else {
            return nil
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        self.init(bytes)
    }

    /// The form that can be typed again: without the space.
    public var defaultValueDescription: String {
        description.replacing(" ", with: "")
    }

    private static let units = [
        "": 1, "B": 1,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
        "kB": 1_000, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000,
    ]
}
