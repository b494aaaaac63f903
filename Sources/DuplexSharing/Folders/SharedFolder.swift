// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import Synchronization

/// A folder of this machine that is shared with clients: what may be done in it, who may, and nothing outside of it.
///
/// ```swift
/// var options = FolderOptions()
/// options.allowedExtensions = ["jpg", "png"]
/// let folder = try SharedFolder("pictures", options: options)
/// ```
///
/// Whatever names and links clients send, nothing outside is read, written or named: the kernel sees to that where it can.
/// Links to places in the folder are followed for reading on Linux; changes are made to the link itself.
///
/// What is written gets its name when it is whole, and until then nobody sees it. What is in the folder `.duplex` in it is
/// the server's own: files that are being written, the trash, unfinished uploads. A file that was being written when the
/// process was killed is taken away when the folder is opened again.
///
/// Work on the disk is done by a few threads of its own, so that a slow disk delays nothing else.
public final class SharedFolder: Sendable {
    package let options: FolderOptions
    /// As it was given; what is done goes by the descriptor that was opened there.
    package let path: String
    let store: FolderStore
    let usage: FolderUsage
    /// Keeps properties that the file system doesn't keep.
    let propertyKeeper = Mutex<(any PropertyKeeping)?>(nil)
    /// Held while something is read, changed and written again.
    let changing = Mutex(())
    /// When it was looked last for what is old in the trash.
    private let trashLooked = Mutex<UnixTime?>(nil)
    /// Observers of changes, by number.
    private let observers = Mutex<(last: Int, all: [Int: @Sendable (FolderPath) -> Void])>((0, [:]))

    /// Those of trees, which may take long, have threads of their own.
    static let trees = BlockingThreads(name: "duplex-trees", limit: 2)
    /// Whoever goes through many folders delays nobody who reads, writes or lists one.
    static let walks = BlockingThreads(name: "duplex-walks", limit: 2)

    /// Opens a folder to share it; blocks for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - path: of the folder; a relative one is below the process's working directory.
    ///   - options: what may be done. Default: as in ``FolderOptions``.
    /// - Throws: `SocketError` with `unreadableFile` where there is none that can be read.
    public init(_ path: String, options: FolderOptions = FolderOptions()) throws(SocketError) {
        try SocketError.check([DurationSetting("trashAge", options.trashAge, allowsZero: true)])
        self.options = options
        self.path = path
        store = try FolderStore(path: path, options.logger)
        usage = FolderUsage(root: store.root)
    }

    /// What files are served from, and read from.
    var confined: ConfinedFolder { store.folder }

    // MARK: Who may do what

    /// Throws where that may not be done, by this user or at all, before the app is asked.
    func check(_ operation: FolderOperation) throws(FolderError) {
        for path in [operation.path, operation.destination].compactMap(\.self) where !shows(path) {
            throw FolderError(.nothing, "There is nothing at “\(path)”.")
        }
        let needed: FolderOptions.Access = operation.kind == .read ? .read : .readAndWrite
        if !operation.visitor.isApp, options.access(operation.visitor) < needed {
            throw FolderError(.notPermitted, "You may not do that here.")
        }
    }

    /// Whether names on the path may be known.
    func shows(_ path: FolderPath) -> Bool { options.showsHidden || !path.isHidden }

    /// Whether that visitor may write.
    func mayWrite(_ visitor: FolderVisitor) -> Bool {
        visitor.isApp || options.access(visitor) == .readAndWrite
    }

    /// Throws where that visitor may not look.
    func checkReading(_ visitor: FolderVisitor, _ path: FolderPath) throws(FolderError) {
        try check(FolderOperation(.read, path, by: visitor))
    }

    /// Throws where a file may not be written with that name, or one of that size not at all.
    func checkFile(_ path: FolderPath, size: UInt64?) throws(FolderError) {
        if !options.allows(path.name) {
            throw FolderError(.notAllowed, "Files such as “\(path.name)” aren't taken here.")
        }
        if let size, size > UInt64(clamping: options.fileSize.bytes) { throw Self.tooLarge(options.fileSize) }
    }

    static func tooLarge(_ limit: ByteCount) -> FolderError {
        FolderError(.tooLarge, "Files may have \(limit) at most.")
    }

    /// Throws where so many bytes more are more than there is room for; blocks.
    func checkRoom(for count: UInt64) throws(FolderError) {
        let space = try countSpace()
        if let quota = space.quota, space.used + count > quota {
            throw FolderError(
                .overQuota,
                "There is no more room for this: \(ByteCount(Int(clamping: quota))) may be used."
            )
        }
        if count > space.free { throw FolderError(.noSpace, "The disk is full.") }
    }

    /// What is used and free; blocks.
    func countSpace() throws(FolderError) -> FolderSpace {
        try FolderStore.attempt(.root) { () throws(SocketError) in
            let free = try store.root.space().free
            guard let quota = options.quota.map({ UInt64(clamping: $0.bytes) }) else {
                return FolderSpace(used: 0, free: free, quota: nil)
            }
            let used = try usage.bytes(at: .now())
            return FolderSpace(used: used, free: min(free, quota > used ? quota - used : 0), quota: quota)
        }
    }

    /// Measures the space of the folder.
    ///
    /// - Returns: the space; the bytes that are used are counted if there is a quota, at most once a minute.
    /// - Throws: ``FolderError``.
    package func space() async throws -> FolderSpace {
        try await Self.run { [self] () throws(FolderError) in try countSpace() }
    }

    /// Asks whether a file may be read that somebody else opens.
    package func admit(reading path: FolderPath, by visitor: FolderVisitor) async throws {
        let operation = FolderOperation(.read, path, by: visitor)
        try check(operation)
        try await options.before(operation)
    }

    // MARK: Doing it

    /// Runs what blocks on a thread for that, to its end.
    static func run<Value: Sendable>(
        on threads: BlockingThreads = .files,
        _ body: @escaping @Sendable () throws(FolderError) -> Value
    ) async throws -> Value {
        let result = try await threads.runToEnd { () throws(SocketError) -> Result<Value, FolderError> in
            do throws(FolderError) { return .success(try body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Runs on a thread for that what only reads; a task that is cancelled doesn't wait for it.
    static func look<Value: Sendable>(
        on threads: BlockingThreads = .files,
        _ body: @escaping @Sendable () throws(FolderError) -> Value
    ) async throws -> Value {
        try await threads.run(body)
    }

    /// Asks whether something may be done, does it, and notifies.
    func perform<Value: Sendable>(
        _ operation: FolderOperation,
        on threads: BlockingThreads = .files,
        _ body: @escaping @Sendable () throws(FolderError) -> Value
    ) async throws -> Value {
        try check(operation)
        try await options.before(operation)
        try await Self.warden?.ask(operation)
        let value = try await Self.run(on: threads, body)
        await tell(operation)
        return value
    }

    /// Notifies the app and observers of what was done.
    func tell(_ operation: FolderOperation) async {
        for path in operation.changedFolders { changed(path) }
        Self.witness?.tell(operation)
        await options.after(operation)
    }

    // MARK: Looking on

    // Types of their own: with a bare function as the value, the optimizer of Swift 6.3 asks for its metadata by a name that
    // the runtime can't read, and binding the task local crashes.

    /// Called after something is done in a folder.
    package struct Witness: Sendable {
        fileprivate let tell: @Sendable (FolderOperation) -> Void

        package init(_ tell: @escaping @Sendable (FolderOperation) -> Void) { self.tell = tell }
    }

    /// Asked before anything is done in a folder; an error that it throws refuses it.
    package struct Warden: Sendable {
        fileprivate let ask: @Sendable (FolderOperation) async throws -> Void

        package init(_ ask: @escaping @Sendable (FolderOperation) async throws -> Void) { self.ask = ask }
    }

    /// Of what the running task does in any folder.
    @TaskLocal package static var witness: Witness?

    /// Of what the running task does in any folder, also while a zip of its response is sent.
    @TaskLocal package static var warden: Warden?

    /// Calls `observer` for each folder in which something changes through this value, on any thread, until it is
    /// removed.
    ///
    /// - Parameter observer: gets the folder's path.
    /// - Returns: the number to take it away by.
    func observe(_ observer: @escaping @Sendable (FolderPath) -> Void) -> Int {
        observers.withLock { observers in
            observers.last += 1
            observers.all[observers.last] = observer
            return observers.last
        }
    }

    func removeObserver(_ number: Int) {
        observers.withLock { observers in _ = observers.all.removeValue(forKey: number) }
    }

    private func changed(_ path: FolderPath) {
        for observer in observers.withLock({ Array($0.all.values) }) { observer(path) }
    }

    // MARK: Looking

    /// What is at a path.
    ///
    /// - Parameter path: the path.
    /// - Returns: the file or folder; `nil` where there is none.
    /// - Throws: ``FolderError`` where the disk can't say.
    public func entry(at path: FolderPath) async throws -> FolderEntry? {
        if !shows(path) { return nil }
        return try await Self.look { [store] () throws(FolderError) in
            try store.status(of: path).flatMap { FolderEntry(path.name, $0) }
        }
    }

    /// What is in a folder, in no order; links to places outside, pipes and devices aren't, nor what has a name that can't be in a
    /// path.
    ///
    /// - Parameter path: of the folder.
    /// - Returns: files and folders, and whether there are more than ``FolderOptions/listingLimit``, or any that lie deeper than
    ///   paths lead.
    /// - Throws: ``FolderError`` with `nothing` or `isFile` where there is no folder.
    public func entries(of path: FolderPath) async throws -> (entries: [FolderEntry], isTruncated: Bool) {
        let listing = try await listing(of: path)
        return (listing.entries, listing.isTruncated)
    }

    /// The same, and how many have names that can't be in a path.
    func listing(of path: FolderPath) async throws -> FolderListing {
        if !shows(path) { throw FolderError(.nothing, "There is nothing at “\(path)”.") }
        return try await Self.look { [store, options] () throws(FolderError) in
            try store.entries(of: path, atMost: options.listingLimit, showsHidden: options.showsHidden)
        }
    }

    /// Opens what is at a path for reading.
    func open(_ path: FolderPath, by visitor: FolderVisitor) async throws -> OpenedFile {
        try await perform(FolderOperation(.read, path, by: visitor)) { [store] () throws(FolderError) in
            try store.open(path)
        }
    }

    /// Opens what is at a path of the names that the file system has; the app is asked for the same in text.
    func open(_ place: FileName, _ path: FolderPath, by visitor: FolderVisitor) async throws -> OpenedFile {
        try await perform(FolderOperation(.read, path, by: visitor)) { [store] () throws(FolderError) in
            try store.open(place, path)
        }
    }

    // MARK: Changing

    /// Makes a folder.
    ///
    /// - Parameters:
    ///   - path: where; what it is in has to be there.
    ///   - visitor: who does it. Default: the app.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    public func createFolder(_ path: FolderPath, by visitor: FolderVisitor = .app) async throws {
        try await perform(FolderOperation(.createFolder, path, by: visitor)) { [self] () throws(FolderError) in
            try store.createFolder(path)
            // Something that went by another program may have left some.
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
        }
    }

    /// Gives something another name or place, at once and as a whole; over file systems it is copied first.
    ///
    /// - Parameters:
    ///   - from: where it is.
    ///   - path: where it is to be.
    ///   - conflict: what happens where something is there already. Default: it is an error.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: where it is now.
    /// - Throws: ``FolderError``, and everything is as it was; what ``FolderOptions/before`` throws.
    @discardableResult
    public func move(
        _ from: FolderPath,
        to path: FolderPath,
        onConflict conflict: NameConflict = .refuse,
        by visitor: FolderVisitor = .app
    ) async throws -> FolderPath {
        try await moving(from, to: path, onConflict: conflict, by: visitor).path
    }

    /// Does what ``move(_:to:onConflict:by:)`` does, and says whether something was replaced.
    func moving(
        _ from: FolderPath,
        to path: FolderPath,
        onConflict conflict: NameConflict = .refuse,
        by visitor: FolderVisitor = .app
    ) async throws -> FolderChange {
        let operation = FolderOperation(.move, from, to: path, by: visitor)
        return try await perform(operation, on: Self.trees) { [self] () throws(FolderError) in
            if try store.status(of: from)?.kind == .file { try checkFile(path, size: nil) }
            if conflict == .replace { usage.forget() }
            let change = try store.move(from, to: path, conflict)
            follow(change.path) { keeper throws(SocketError) in try keeper.move(from, to: change.path) }
            return change
        }
    }

    /// Copies something with all that is in it, whatever the names are and however deep; the copy gets its name when it is whole.
    ///
    /// Links within a folder, pipes and devices are left out.
    ///
    /// - Parameters:
    ///   - from: where it is.
    ///   - path: where the copy is to be.
    ///   - conflict: what happens where something is there already. Default: it is an error.
    ///   - onlyItself: whether what is in a folder is left out. Default: no.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: where the copy is.
    /// - Throws: ``FolderError``, and everything is as it was; what ``FolderOptions/before`` throws.
    @discardableResult
    public func copy(
        _ from: FolderPath,
        to path: FolderPath,
        onConflict conflict: NameConflict = .refuse,
        onlyItself: Bool = false,
        by visitor: FolderVisitor = .app
    ) async throws -> FolderPath {
        try await copying(from, to: path, onConflict: conflict, onlyItself: onlyItself, by: visitor).path
    }

    /// Does what ``copy(_:to:onConflict:onlyItself:by:)`` does, and says whether something was replaced.
    func copying(
        _ from: FolderPath,
        to path: FolderPath,
        onConflict conflict: NameConflict = .refuse,
        onlyItself: Bool = false,
        by visitor: FolderVisitor = .app
    ) async throws -> FolderChange {
        let operation = FolderOperation(.copy, from, to: path, by: visitor)
        return try await perform(operation, on: Self.trees) { [self] () throws(FolderError) in
            let size = try size(of: from, onlyItself: onlyItself)
            if size.isFile { try checkFile(path, size: size.bytes) }
            try checkRoom(for: size.bytes)
            let change = try store.copy(from, to: path, conflict, onlyItself: onlyItself)
            change.replaced ? usage.forget() : usage.add(size.bytes)
            follow(change.path) { keeper throws(SocketError) in
                try keeper.copy(from, to: change.path, onlyItself: onlyItself)
            }
            return change
        }
    }

    private func size(
        of path: FolderPath,
        onlyItself: Bool
    ) throws(FolderError) -> (bytes: UInt64, isFile: Bool) {
        guard let status = try store.status(of: path) else {
            throw FolderError(.nothing, "There is nothing at “\(path)”.")
        }
        if status.kind == .file { return (status.size, true) }
        guard !onlyItself, let folder = OpenedFolder(try store.open(path)) else { return (0, false) }
        return (
            try FolderStore.attempt(path) { () throws(SocketError) in try FolderTree.size(of: folder).bytes }, false
        )
    }

    /// Removes something for good, with all that is in it, however deep: at once out of sight.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - visitor: who does it. Default: the app.
    /// - Throws: ``FolderError``, and what can't be removed is where it was; what ``FolderOptions/before`` throws.
    public func remove(_ path: FolderPath, by visitor: FolderVisitor = .app) async throws {
        try await perform(
            FolderOperation(.delete, path, by: visitor),
            on: Self.trees
        ) { [self] () throws(FolderError) in
            defer { usage.forget() }
            try store.delete(path)
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
        }
    }

    // MARK: The trash

    /// Moves something into the trash, from which it can be restored; items older than ``FolderOptions/trashAge`` are
    /// removed.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: what is in the trash now.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    @discardableResult
    public func moveToTrash(_ path: FolderPath, by visitor: FolderVisitor = .app) async throws -> TrashedItem {
        let operation = FolderOperation(.delete, path, by: visitor)
        return try await perform(operation, on: Self.trees) { [self] () throws(FolderError) in
            let (trash, now) = (FolderTrash(store: store), UnixTime.now)
            let item = try trash.take(path, now: now)
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
            if isTrashDue(now) {
                // What can't be cleared up now is cleared up the next time.
                try? trash.empty(before: now.advanced(by: .zero - options.trashAge))
                try? trash.sweep(before: UnixTime(seconds: now.seconds - 3_600))
            }
            return item
        }
    }

    /// Whether it is time to look for what is old in the trash: once a minute, as all that is in it is looked at.
    private func isTrashDue(_ now: UnixTime) -> Bool {
        trashLooked.withLock { looked in
            if let looked, now.seconds - looked.seconds < 60 { return false }
            looked = now
            return true
        }
    }

    /// What is in the trash, the latest first.
    ///
    /// - Returns: the items.
    /// - Throws: ``FolderError``.
    public func trash() async throws -> [TrashedItem] {
        try await Self.look(on: Self.walks) { [store] () throws(FolderError) in try FolderTrash(store: store).items() }
    }

    /// One thing in the trash, whatever else is there.
    ///
    /// - Parameter id: its name in the trash.
    /// - Returns: the item; `nil` where there is none of that name.
    /// - Throws: ``FolderError``.
    package func trashedItem(_ id: String) async throws -> TrashedItem? {
        try await Self.look { [store] () throws(FolderError) in try FolderTrash(store: store).item(id) }
    }

    /// Puts something from the trash back where it was, with a number where something else is there.
    ///
    /// - Parameters:
    ///   - item: what is in the trash.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: where it is now.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    @discardableResult
    public func restore(_ item: TrashedItem, by visitor: FolderVisitor = .app) async throws -> FolderPath {
        try await restoring(item, by: visitor).path
    }

    /// Does what ``restore(_:by:)`` does; never replaces anything.
    func restoring(_ item: TrashedItem, by visitor: FolderVisitor = .app) async throws -> FolderChange {
        try await perform(FolderOperation(.restore, item.path, by: visitor)) { [self] () throws(FolderError) in
            let change = try FolderTrash(store: store).restore(item.id)
            follow(change.path) { keeper throws(SocketError) in try keeper.remove(change.path) }
            return change
        }
    }

    /// Removes for good what is in the trash.
    ///
    /// - Parameter visitor: who does it. Default: the app.
    /// - Throws: ``FolderError`` of the first item that can't be removed, which is in the trash still; the others have gone.
    public func emptyTrash(by visitor: FolderVisitor = .app) async throws {
        try check(FolderOperation(.delete, .root, by: visitor))
        try await Self.run(on: Self.trees) { [store, usage] () throws(FolderError) in
            defer { usage.forget() }
            try FolderTrash(store: store).empty(before: UnixTime(seconds: .max))
        }
    }

    // MARK: Searching

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
        var isTruncated = false
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
    ) async throws -> (found: [Match], isTruncated: Bool) {
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
                result.isTruncated = true
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
                result.isTruncated = true
                continue
            }
            result.matches += step.matches
            result.folders += step.folders
            result.count += step.count
            result.isTruncated = result.isTruncated || step.isTruncated
        }
        return (Array(result.matches.prefix(limit)), result.isTruncated || result.matches.count > limit)
    }

    /// Looks at one folder; blocks.
    private func step(_ text: String, _ path: FolderPath, atMost bound: Int) throws(FolderError) -> Step {
        let listing = try store.entries(of: path, atMost: bound, showsHidden: options.showsHidden)
        // Names that no path can have may match, and so may what is in folders of such names.
        var step = Step(count: listing.entries.count, isTruncated: listing.isTruncated || listing.unlisted > 0)
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
