// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What happens where something is to get a name that something has.
public enum NameClash: String, Sendable, CaseIterable {
    /// Nothing: it is an error.
    case refuse
    /// What has the name is removed for good, once the other one is whole.
    case replace
    /// The new one gets a number: `a (1).txt`.
    case number
}

/// The result of a change in a ``SharedFolder``.
public struct FolderChange: Sendable, Hashable {
    /// Where it is now.
    public let path: FolderPath
    /// Whether something was there before.
    public let replaced: Bool

    init(path: FolderPath, replaced: Bool) {
        self.path = path
        self.replaced = replaced
    }
}
