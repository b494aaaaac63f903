// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension CachingResolver.Options {
    /// The durations that are set here.
    var durations: [DurationSetting] {
        [
            DurationSetting("minimumTimeToLive", minimumTimeToLive, allowsZero: true),
            DurationSetting("maximumTimeToLive", maximumTimeToLive, allowsZero: true),
            DurationSetting("defaultTimeToLive", defaultTimeToLive, allowsZero: true),
            DurationSetting("unknownTimeToLive", unknownTimeToLive, allowsZero: true),
            DurationSetting("staleTime", staleTime, allowsZero: true),
            DurationSetting("refreshPause", refreshPause, allowsZero: true),
            DurationSetting("refreshTimeout", refreshTimeout),
            DurationSetting("lastResortDelay", lastResortDelay, allowsZero: true),
        ]
    }
}
