// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import Testing

@Suite struct OrNullTests {
    private struct Sample: Codable, Equatable {
        @OrNull var count: Int?
        var more: OrNull<Int>?
    }

    @Test(
        "A member without a value is null, and none of the others is there",
        arguments: [
            (Sample(count: nil), #"{"count":null}"#), (Sample(count: 1), #"{"count":1}"#),
            (Sample(count: 1, more: OrNull(wrappedValue: 2)), #"{"count":1,"more":2}"#),
            (Sample(count: nil, more: OrNull(wrappedValue: nil)), #"{"count":null,"more":null}"#),
        ]
    )
    private func members(sample: Sample, json: String) throws {
        #expect(try CompactJSON.text(of: sample) == json)
        #expect(try CompactJSON.value(Sample.self, of: json).count == sample.count)
    }

    @Test("A member that isn't there isn't null")
    func missing() {
        #expect(throws: DecodingError.self) { try CompactJSON.value(Sample.self, of: "{}") }
    }
}
