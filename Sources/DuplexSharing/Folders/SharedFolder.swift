// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import Synchronization

/// A folder of this machine that is shared with clients: what may be done in it, who may, and nothing outside of it.
///
/// ```swift
/// var options = FolderOptions()
/// options.allowedExtensions = ["jpg", "png"]
/// let folder = try SharedFolder("pictures", options)
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
    let trashLooked = Mutex<UnixTime?>(nil)
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
    public init(_ path: String, _ options: FolderOptions = FolderOptions()) throws(SocketError) {
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
        let space = try space()
        if let quota = space.quota, space.used + count > quota {
            throw FolderError(
                .overQuota,
                "There is no more room for this: \(ByteCount(Int(clamping: quota))) may be used."
            )
        }
        if count > space.free { throw FolderError(.noSpace, "The disk is full.") }
    }

    /// What is used and free; blocks.
    func space() throws(FolderError) -> FolderSpace {
        try FolderStore.attempt(.root) { () throws(SocketError) in
            let free = try store.root.space().free
            guard let quota = options.quota.map({ UInt64(clamping: $0.bytes) }) else {
                return FolderSpace(used: 0, free: free, quota: nil)
            }
            let used = try usage.bytes(at: .now())
            return FolderSpace(used: used, free: min(free, quota > used ? quota - used : 0), quota: quota)
        }
    }

    /// How much room there is.
    ///
    /// - Returns: the room; what is used is counted where there is a quota, at most once a minute.
    /// - Throws: ``FolderError``.
    public func room() async throws -> FolderSpace {
        try await Self.run { [self] () throws(FolderError) in try space() }
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
}
