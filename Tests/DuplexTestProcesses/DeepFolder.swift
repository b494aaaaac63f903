// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files and folders that paths of text, or paths as long as the system takes, don't lead to.
package enum DeepFolder {
    package struct Failed: Error {
        package let text: String
    }

    /// Makes folders in one another, and in the last one a file `bottom` with the text `deep`, and a link to it.
    ///
    /// - Parameters:
    ///   - names: of the folders, from the first one down.
    ///   - root: where the first one is made.
    /// - Throws: ``Failed``.
    package static func make(_ names: [String], in root: String) throws {
        var folder = unsafe open(root, O_RDONLY | O_DIRECTORY)
        for name in names where folder >= 0 {
            _ = unsafe mkdirat(folder, name, 0o700)
            let inner = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            close(folder)
            folder = inner
        }
        guard folder >= 0 else { throw Failed(text: "\(names.count) folders can't be made: \(errno)") }
        defer { close(folder) }
        // Swift has no openat(2) that makes files: one is moved there.
        let name = "." + UUID().uuidString
        try makeFile(Array(name.utf8), in: root + "/", "deep")
        guard unsafe renameat(AT_FDCWD, root + "/" + name, folder, "bottom") == 0,
            unsafe symlinkat("bottom", folder, "link") == 0
        else { throw Failed(text: "The last folder can't be written: \(errno)") }
    }

    /// Makes a file whose name is bytes.
    ///
    /// - Parameters:
    ///   - name: of the file, below the folder.
    ///   - root: the folder, with a slash at its end.
    ///   - text: what is in it.
    /// - Throws: ``Failed``.
    package static func makeFile(_ name: [UInt8], in root: String, _ text: String = "") throws {
        let path = (Array(root.utf8) + name).map { CChar(bitPattern: $0) } + [0]
        let opened = unsafe creat(path, 0o600)
        defer { if opened >= 0 { close(opened) } }
        let bytes = Array(text.utf8)
        guard opened >= 0, unsafe write(opened, bytes, bytes.count) == bytes.count else {
            throw Failed(text: "The file can't be made: \(errno)")
        }
    }

    /// Makes a folder whose name is bytes.
    package static func makeFolder(_ name: [UInt8], in root: String) throws {
        let path = (Array(root.utf8) + name).map { CChar(bitPattern: $0) } + [0]
        if unsafe mkdir(path, 0o700) != 0 { throw Failed(text: "The folder can't be made: \(errno)") }
    }

    /// The names in a folder, as bytes.
    package static func names(in path: String) throws -> Set<[UInt8]> {
        guard let folder = unsafe opendir(path) else { throw Failed(text: "“\(path)” can't be read: \(errno)") }
        defer { unsafe closedir(folder) }
        var names: Set<[UInt8]> = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            if name != [0x2E] && name != [0x2E, 0x2E] { names.insert(name) }
        }
        return names
    }
}
