// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// How many messages and bytes may be published in a second, with the time handed in.
struct PublishRates: Sendable {
    private var messages: RateBucket?
    private var bytes: RateBucket?

    /// What the options ask for; `nil` if they ask for nothing.
    init?(_ options: TopicOptions, now: Instant) {
        guard options.publishRate != nil || options.publishByteRate != nil else { return nil }
        messages = options.publishRate.map { RateBucket($0, now: now) }
        bytes = options.publishByteRate.map { RateBucket($0, now: now) }
    }

    /// Takes a message in; one that is refused counts for nothing.
    ///
    /// - Throws: ``TopicError`` with `limitReached`.
    mutating func take(_ size: Int, now: Instant) throws(TopicError) {
        for bucket in [messages, bytes] {
            guard let bucket, bucket.nextInstant > now else { continue }
            throw TopicError(.limitReached, "More is published in a second than may be.")
        }
        messages?.charge(1, now: now)
        bytes?.charge(size, now: now)
    }
}
