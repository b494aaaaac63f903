// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// The file of a response on its way to the client, and what comes behind it.
final class FileTransfer {
    let transfer: Transfer
    let trailers: HTTPFields
    /// How much the network had when that was looked at last, and when that was.
    var seen: (sent: UInt64, at: Instant)

    init(_ range: FileRange, trailers: HTTPFields, began: Instant) {
        transfer = Transfer(.file(range), id: 0, began: began)
        self.trailers = trailers
        seen = (0, began)
    }
}

extension HTTPConnection {
    /// Up to this size a file goes with its head in one segment.
    ///
    /// The head shifts all of the file against the pages that the kernel sends from: a file of 100 KiB costs a tenth less with it,
    /// one of 1 MiB twice as much.
    private static let joinedSize = 128 * 1_024

    /// Up to this size a file is copied behind its head: that costs less than having the system move it.
    private static let shortSize = 16 * 1_024

    /// Sends a response whose body is a file: the file as the socket takes it, which needs no task.
    func send(_ file: ResponseFile, of response: Response, to request: Request) {
        guard stage == .serving else { return }
        if file.count <= Self.shortSize && request.method != .head && sendShort(file, of: response) { return }
        let range: FileRange
        do throws(SocketError) {
            range = try file.range()
        } catch {
            return fileFailed(error, request)
        }
        var bytes = services.takeScratch()
        do throws(HTTPError) {
            try writeHead(response, .bytes(file.count), into: &bytes)
            // The length is known: nothing goes before the file.
            guard try session.beginPiece(file.count, into: &bytes) else {
                return endResponse(trailers: response.trailers, &bytes)
            }
        } catch {
            return give(up: error)
        }
        write(&bytes)
        let transfer = FileTransfer(range, trailers: response.trailers, began: services.now)
        // Before the head goes: what it wakes the client for is to come right behind it. A head whose file comes from the disk
        // doesn't wait for that.
        let isCached = transfer.transfer.isNextCached(now: services.now)
        self.file = transfer
        channel.handlerSends = true
        channel.isMoreComing = isCached && file.count <= Self.joinedSize
        armTimer()
    }

    /// Sends a short file with its head, if that needs no wait for the disk.
    ///
    /// - Returns: whether it is sent; if not, nothing was done.
    private func sendShort(_ file: ResponseFile, of response: Response) -> Bool {
        var content = services.takeContent()
        defer { services.giveContent(&content) }
        guard file.part.readCached(into: &content) == .whole else { return false }
        present?.record?.sent(content.count)
        respond(response, content.span.raw)
        return true
    }

    /// Sends as much of the file as goes now; the channel is empty.
    func sendFile() -> TransferResult {
        guard let file else { return .wouldBlock }
        // What was queued before is out by now; until then the channel has to ask for more, or nobody would send it.
        if file.transfer.isTaken {
            endFile(nil)
            return .wouldBlock
        }
        do throws(SocketError) {
            switch try file.transfer.move(to: channel, mayBeDirect: !channel.isSecured) {
            case .disconnected(let code): return .failed(code)
            case .sent where file.transfer.isTaken: endFile(nil)
            case .sent, .queued, .wouldBlock: break
            case .notCached: readAhead(of: file)
            }
        } catch {
            endFile(error)
        }
        return .wouldBlock
    }

    /// Goes on once the system has in its cache what comes next; meanwhile nobody waits but this client.
    private func readAhead(of file: FileTransfer) {
        channel.handlerSends = false
        let bound = LoopBound((connection: self, file: file), on: services.loop.thread)
        file.transfer.readAhead(on: services.loop) {
            let (connection, file) = bound.value
            if connection.file === file { connection.channel.handlerSends = true }
        }
    }

    /// The file has gone, or the rest of it never will.
    func endFile(_ error: (any Error)?) {
        guard let file else { return }
        self.file = nil
        channel.handlerSends = false
        present?.record?.sent(Int(clamping: file.transfer.taken))
        guard stage == .serving else { return }
        if let error { return failBody(error) }
        var bytes = services.takeScratch()
        endResponse(trailers: file.trailers, &bytes)
        goOn()
    }

    // MARK: A client that takes nothing

    /// When a client to which a file is sent is looked at, or that other instant where it is earlier.
    func deadline(ofFileOr other: Instant?) -> Instant? {
        guard let file else { return other }
        let deadline = file.seen.at.advanced(by: services.session.values.idleTime)
        return other.map { min($0, deadline) } ?? deadline
    }

    func isFileDue(_ now: Instant) -> Bool {
        guard file != nil, let deadline = deadline(ofFileOr: nil) else { return false }
        return deadline <= now
    }

    /// Ends a client that has taken nothing of a file for as long as a connection may be idle.
    func judgeFile() {
        guard let file else { return }
        let sent = file.transfer.taken - min(file.transfer.taken, UInt64(channel.queuedBytes))
        // The channel asks for nothing while the file is read from the disk: then it isn't the client who is slow.
        let goesOn = sent > file.seen.sent || !channel.handlerSends
        file.seen = (sent, now)
        if goesOn { armTimer() } else { abort() }
    }
}
