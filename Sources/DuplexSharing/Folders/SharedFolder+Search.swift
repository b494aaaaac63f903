// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

// A search for names.

extension SharedFolder {
    /// Something that a search has found.
    package struct Match: Sendable {
        package let path: FolderPath
        package let entry: FolderEntry
    }

    private struct Step: Sendable {
        var matches: [Match] = []
        /// To be searched, too.
        var folders: [FolderPath] = []
        /// How many entries were looked at.
        var count = 0
        var isCut = false
    }

    /// Looks for what has a text in its name, whatever its case; what is nearer to the top comes first.
    ///
    /// The disk is read a folder at a time, and no further once the task is cancelled. Links aren't followed into folders.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - path: the folder that is searched with all below it.
    ///   - bound: how many entries are looked at.
    ///   - limit: how many are found.
    ///   - visitor: who looks.
    /// - Returns: what was found, and whether there may be more: beyond the bounds, in folders that can't be read or are deeper than
    ///   paths lead, and of names that can't be in a path.
    /// - Throws: ``FolderError`` where there is no such folder, or it may not be read; `CancellationError`.
    package func search(
        for text: String,
        below path: FolderPath,
        lookingAt bound: Int,
        finding limit: Int,
        by visitor: FolderVisitor
    ) async throws -> (found: [Match], isCut: Bool) {
        try checkReading(visitor, path)
        let text = text.lowercased()
        var result = try await Self.look(on: Self.walks) { [self] () throws(FolderError) in
            try step(text, path, atMost: bound)
        }
        var next = 0
        while next < result.folders.count, result.matches.count <= limit {
            try Task.checkCancellation()
            let (folder, room) = (result.folders[next], bound - result.count)
            if room <= 0 {
                result.isCut = true
                break
            }
            next += 1
            guard
                let step = try? await Self.look(
                    on: Self.walks,
                    { [self] () throws(FolderError) in
                        try step(text, folder, atMost: room)
                    }
                )
            else {
                // One that can't be read, or has gone by now, may have had something.
                result.isCut = true
                continue
            }
            result.matches += step.matches
            result.folders += step.folders
            result.count += step.count
            result.isCut = result.isCut || step.isCut
        }
        return (Array(result.matches.prefix(limit)), result.isCut || result.matches.count > limit)
    }

    /// Looks at one folder; blocks.
    private func step(_ text: String, _ path: FolderPath, atMost bound: Int) throws(FolderError) -> Step {
        let listing = try store.entries(of: path, atMost: bound, showsHidden: options.showsHidden)
        // Names that no path can have may match, and so may what is in folders of such names.
        var step = Step(count: listing.entries.count, isCut: listing.isCut || listing.unlisted > 0)
        for entry in listing.entries.sorted(by: { $0.name < $1.name }) {
            guard let below = path.appending(entry.name) else { continue }
            if entry.name.lowercased().contains(text) { step.matches.append(Match(path: below, entry: entry)) }
            if entry.kind == .folder, (try? isLink(below)) == false { step.folders.append(below) }
        }
        return step
    }

    private func isLink(_ path: FolderPath) throws(FolderError) -> Bool {
        try store.source(path).status.kind == .link
    }
}
