// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Date {
    /// Makes a date of a point in time, such as the end of a certificate's validity.
    ///
    /// - Parameter time: the time, in whole seconds. One that is more than 285 million years from 1970 is rounded to what a
    ///   `Double` can express.
    public init(_ time: UnixTime) {
        self.init(timeIntervalSince1970: Double(time.seconds))
    }
}
