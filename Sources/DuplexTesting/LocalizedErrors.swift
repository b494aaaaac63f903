// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Foundation

extension TestingError: LocalizedError {
    /// What happened, in a sentence, and which handlers were at work.
    public var errorDescription: String? { description }
}

extension SplitReport: LocalizedError {
    /// What the whole input gave, and up to ten of the splits that gave something else.
    public var errorDescription: String? { description }
}
