// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire

/// Where something is in a ``SharedFolder``: names, none of which leads out of it.
public struct FolderPath: Sendable, Hashable, CustomStringConvertible {
    /// The names, from the folder down; none for the folder itself.
    public let names: [String]

    /// The folder itself.
    public static let root = FolderPath(checked: [])

    /// How many bytes a name has at most, as file systems have it.
    static let nameLimit = 255
    /// How many names a path has at most.
    static let depthLimit = 100
    /// What the names of a folder's own files begin with, to which no path leads.
    static let ownName = OwnName.start

    private init(checked names: [String]) {
        self.names = names
    }

    /// Reads a path.
    ///
    /// It is `nil` where a name is empty, `.` or `..`, longer than 255 bytes, begins with `.duplex`, or holds a slash, a control
    /// character, or one that turns the direction of the text around it; and where there are more than a hundred.
    ///
    /// - Parameter names: the names, from the folder down.
    package init?(_ names: [String]) {
        guard names.count <= Self.depthLimit, names.allSatisfy(Self.isName) else { return nil }
        self.names = names
    }

    /// Reads a path with slashes between its names; one before and one after them say nothing.
    ///
    /// - Parameter text: such as `photos/2026`; empty for the folder itself.
    public init?(_ text: String) {
        var names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if names.first?.isEmpty == true { names.removeFirst() }
        if names.last?.isEmpty == true { names.removeLast() }
        self.init(names)
    }

    /// Reads a path of the server's own, which clients may not be able to say: something may have been moved deeper than a path
    /// of theirs leads.
    init?(ofAnyDepth names: [String]) {
        guard names.allSatisfy(Self.isName) else { return nil }
        self.names = names
    }

    /// Where something is that has such names on the disk, in text: as apps are asked whether it may be read.
    init(showing names: [FileName]) { self.init(checked: names.map(\.escaped)) }

    /// Whether it can be a name in a path.
    static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && bytes.count <= nameLimit && name != "." && name != ".."
            && !OwnName.isOwn(name) && !name.unicodeScalars.contains(where: isUnfit)
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool { scalar == "/" || NameScalar.isUnfit(scalar) }

    /// The names with slashes between them.
    public var text: String { names.joined(separator: "/") }

    /// The last name; empty for the folder itself.
    public var name: String { names.last ?? "" }

    /// The folder that it is in; that of the folder itself is the folder itself.
    package var parent: FolderPath { FolderPath(checked: names.dropLast()) }

    /// Whether it is the folder itself.
    package var isRoot: Bool { names.isEmpty }

    /// Whether one of its names begins with a dot.
    package var isHidden: Bool { names.contains { $0.utf8.first == UInt8(ascii: ".") } }

    /// The path, for people.
    public var description: String { "/" + text }

    /// Whether it is below that one, or the same.
    package func isWithin(_ other: FolderPath) -> Bool {
        names.starts(with: other.names) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Whether both are the same byte by byte, as file systems compare names.
    public static func == (first: FolderPath, second: FolderPath) -> Bool {
        first.names.count == second.names.count && first.isWithin(second)
    }

    /// Names of the same bytes are the same text.
    ///
    /// - Parameter hasher: takes the names.
    public func hash(into hasher: inout Hasher) { hasher.combine(names) }

    /// The path of something in the folder at this path.
    ///
    /// - Parameter name: its name.
    /// - Returns: the path; `nil` where that is no name.
    package func appending(_ name: String) -> FolderPath? { FolderPath(names + [name]) }

    /// The same with another last name.
    func named(_ name: String) -> FolderPath { FolderPath(checked: names.dropLast() + [name]) }
}
