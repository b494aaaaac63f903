// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import Foundation

/// Two nodes that a Redis joins: what one publishes, the other has to get before more is published.
enum Between {
    /// Publishes for so many seconds, with at most `depth` messages under way, and says how many came in a second.
    static func run(_ url: String, depth: Int, seconds: Double) async throws -> String {
        let (one, other) = (try Topics(.redis(url, prefix: "bench")), try Topics(.redis(url, prefix: "bench")))
        var messages = other["between"].messages(slow: .dropOldest(keeping: 100_000)).makeAsyncIterator()
        let topic = one["between"]
        let text = String(repeating: "x", count: 64)
        // The subscription holds once something has come.
        let probe = Task {
            while !Task.isCancelled {
                topic.publish("probe")
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        _ = try await messages.next()
        probe.cancel()
        await probe.value
        topic.publish("begin")
        while try await messages.next()?.text != "begin" {}
        let clock = ContinuousClock()
        let begin = clock.now
        let end = begin.advanced(by: .seconds(seconds))
        var count = 0
        var missed = 0
        while clock.now < end {
            // As `redis-benchmark -P` has it: so many at once, and more when all have come.
            for _ in 0..<depth { topic.publish(text) }
            for _ in 0..<depth { missed += try await messages.next()?.missed ?? 0 }
            count += depth
        }
        let time = begin.duration(to: clock.now) / .seconds(1)
        await one.close()
        await other.close()
        return "messages=\(count) missed=\(missed) secs=\(time) rate=\(Double(count) / time)"
    }
}
