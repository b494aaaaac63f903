// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Foundation

extension InspectorRecording.Refusal: LocalizedError {
    /// Why the file can't be shown, in a sentence.
    public var errorDescription: String? { description }
}
