// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Topics {
    /// What has become of messages so far, in this process.
    public var counts: TopicCounts { core.tally.total }
}
