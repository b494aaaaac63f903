// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Foundation

extension TemplateError: LocalizedError {
    /// What happened, in a sentence.
    public var errorDescription: String? { description }
}
