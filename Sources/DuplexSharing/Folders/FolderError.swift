// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexSockets
package import HTTPTypes

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why nothing was done in a ``SharedFolder``.
public struct FolderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// There is nothing at the path.
        case nothing
        /// There is no folder where something is to be made.
        case noParent
        /// There is something of that name.
        case exists
        /// It is a folder, and a file is needed.
        case isFolder
        /// It is a file, and a folder is needed.
        case isFile
        /// A folder can't go into itself, nor anything in its own place.
        case sameplace
        /// The visitor may not do that.
        case notPermitted
        /// Files with such names aren't taken.
        case notAllowed
        /// The name or the path can't be one.
        case badName
        /// The file is larger than files may be.
        case tooLarge
        /// The disk is full.
        case noSpace
        /// The folder may not become larger.
        case overQuota
        /// The disk, or the system, has refused.
        case system
    }

    /// The kind of the reason.
    public let code: Code
    /// What was wrong, in a sentence for people.
    public let message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of the reason.
    ///   - message: what was wrong, in a sentence for people.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }

    /// The status that says so.
    package var status: HTTPResponse.Status {
        switch code {
        case .nothing: .notFound
        case .noParent, .exists, .isFile: .conflict
        case .isFolder: .methodNotAllowed
        case .sameplace, .notPermitted, .badName: .forbidden
        case .notAllowed: .unsupportedMediaType
        case .tooLarge: .contentTooLarge
        case .noSpace, .overQuota: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .system: .internalServerError
        }
    }

    /// What is answered.
    public var problem: Problem { Problem(status, message) }

    /// The system's error for a path; its text may name other paths, and isn't for clients.
    init(_ error: SocketError, _ path: FolderPath) {
        let code = Self.code(of: error.errno)
        self.init(code, Self.message(of: code, path, error))
    }

    /// The system's error for something that was to be removed with all that is in it.
    init(deleting path: FolderPath, _ error: SocketError) {
        self.init(error, path)
        if code == .nothing || code == .noParent { return }
        self.init(code, "“\(path)” can't be removed, or not all of it: what is left is in its place. \(message)")
    }

    private static func code(of errno: Int32?) -> Code {
        switch errno {
        case ENOENT: .nothing
        case ENOTDIR: .noParent
        case EEXIST, ENOTEMPTY: .exists
        case EISDIR: .isFolder
        case EINVAL: .sameplace
        // A mount point is busy: it stays where it is.
        case EACCES, EPERM, EROFS, ELOOP, EXDEV, EBUSY: .notPermitted
        case ENAMETOOLONG, EILSEQ: .badName
        case ENOSPC: .noSpace
        case EDQUOT: .overQuota
        case EFBIG: .tooLarge
        default: .system
        }
    }

    private static func message(of code: Code, _ path: FolderPath, _ error: SocketError) -> String {
        switch code {
        case .nothing: "There is nothing at “\(path)”."
        case .noParent: "There is no folder for “\(path)”."
        case .exists: "There is “\(path)” already."
        case .isFolder: "“\(path)” is a folder."
        case .isFile: "“\(path)” is a file."
        case .sameplace: "“\(path)” can't go there: it is there, or that is in it."
        case .notPermitted: "The system doesn't permit that for “\(path)”."
        case .notAllowed, .badName: "“\(path)” can't be a name here."
        case .tooLarge: "“\(path)” is too large for the file system."
        case .noSpace: "The disk is full."
        case .overQuota: "There is no more room for this."
        case .system: error.errno.map { "“\(path)”: \(SocketError.text(of: $0))." } ?? "“\(path)” can't be had."
        }
    }
}

extension FolderError: RefusingError {
    /// Errors of the system are this side's.
    package var refusal: Problem? { code == .system ? nil : problem }
}
