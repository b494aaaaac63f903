// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where the lines come from that are sent.
protocol LineSource: Sendable {
    /// The next line without its end; `nil` when there are no more.
    func next() async throws -> String?
}

/// Lines that are given beforehand.
actor GivenLines: LineSource {
    private var lines: ArraySlice<String>

    init(_ lines: [String]) {
        self.lines = lines[...]
    }

    func next() -> String? {
        lines.popFirst()
    }
}
