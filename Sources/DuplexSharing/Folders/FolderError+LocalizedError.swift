// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Foundation

extension FolderError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { message }
}
