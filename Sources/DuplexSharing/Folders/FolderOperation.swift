// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer
public import DuplexSockets

/// Who does something in a ``SharedFolder``.
public struct FolderVisitor: Sendable, Hashable {
    /// The name of the user that the request has been authenticated as.
    public let user: String?
    /// Where the client is; `nil` where that isn't known.
    public let address: SocketAddress?
    /// Whether it is the app itself, which may do everything.
    package let isApp: Bool

    /// The app itself, which may do everything.
    public static let app = FolderVisitor(user: nil, address: nil, isApp: true)

    /// Makes a visitor.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - address: where the client is.
    public init(user: String?, address: SocketAddress?) {
        self.init(user: user, address: address, isApp: false)
    }

    private init(user: String?, address: SocketAddress?, isApp: Bool) {
        self.user = user
        self.address = address
        self.isApp = isApp
    }

    /// Whoever makes a request.
    package init(_ request: Request) {
        self.init(user: request.user, address: request.remoteAddress)
    }
}

/// Something that is to be done in a ``SharedFolder``, or was.
public struct FolderOperation: Sendable, Hashable {
    /// What it is.
    public enum Kind: String, Sendable {
        /// A file is read.
        case read
        /// A file is written whole: it is made, or replaced.
        case write
        /// A folder is made.
        case createFolder
        /// Something gets another name or place.
        case move
        /// Something is copied.
        case copy
        /// Something is removed, for good or into the trash.
        case delete
        /// Something comes back from the trash.
        case restore
        /// Its properties are changed.
        case change
    }

    /// What it is.
    public let kind: Kind
    /// What it is done to.
    ///
    /// A file that is read for a zip may have a name that isn't UTF-8: in the path each byte of it that isn't is `%` and two digits.
    /// It may lie deeper than other paths lead.
    public let path: FolderPath
    /// Where that goes, of a move or a copy.
    public let destination: FolderPath?
    /// How many bytes a file that is written has, as far as that is known before.
    public let size: UInt64?
    /// Who does it.
    public let visitor: FolderVisitor

    init(
        _ kind: Kind,
        _ path: FolderPath,
        to destination: FolderPath? = nil,
        size: UInt64? = nil,
        by visitor: FolderVisitor
    ) {
        self.kind = kind
        self.path = path
        self.destination = destination
        self.size = size
        self.visitor = visitor
    }

    /// What changes by it: whoever lists it sees something else.
    var changedFolders: Set<FolderPath> {
        switch kind {
        case .read: []
        case .write, .createFolder, .delete, .restore, .change: [path.parent]
        case .copy: destination.map { [$0.parent] } ?? []
        case .move: destination.map { [path.parent, $0.parent] } ?? [path.parent]
        }
    }
}

/// What happens where something is to get a name that something has.
public enum NameConflict: String, Sendable, CaseIterable {
    /// Nothing: it is an error.
    case refuse
    /// What has the name is removed for good, once the other one is whole.
    case replace
    /// The new one gets a number: `a (1).txt`.
    case number
}

/// The result of a change in a ``SharedFolder``.
struct FolderChange: Sendable, Hashable {
    /// Where it is now.
    let path: FolderPath
    /// Whether something was there before.
    let replaced: Bool
}
