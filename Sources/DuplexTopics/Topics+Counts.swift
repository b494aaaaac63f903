// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Topics {
    /// The outcomes of messages so far, in this process.
    public var counts: TopicCounts { core.tally.total }
}
