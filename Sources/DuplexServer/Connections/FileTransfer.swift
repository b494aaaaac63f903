// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// A part of a file on its way to the client, and the runner that waits for its end.
final class FileTransfer {
    let transfer: Transfer
    let waiter: Waiter<Void>

    init(_ range: FileRange, waiter: Waiter<Void>, began: Instant) {
        transfer = Transfer(.file(range), id: 0, began: began)
        self.waiter = waiter
    }
}

extension HTTPConnection {
    /// Begins to send a part of a file; the waiter is resumed when the system has taken it.
    func begin(_ range: FileRange, _ waiter: Waiter<Void>) {
        guard stage == .serving, range.remaining > 0, session.sendsBody else { return waiter.resume(returning: ()) }
        var bytes = services.takeScratch()
        // A file's length is known: nothing goes before it.
        defer { write(&bytes) }
        do throws(HTTPError) {
            _ = try session.beginPiece(Int(clamping: range.remaining), into: &bytes)
        } catch {
            return waiter.resume(throwing: error)
        }
        file = FileTransfer(range, waiter: waiter, began: services.now)
        channel.handlerSends = true
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
            }
        } catch {
            endFile(error)
        }
        return .wouldBlock
    }

    func endFile(_ error: (any Error)?) {
        guard let file else { return }
        self.file = nil
        channel.handlerSends = false
        present?.record?.sent(Int(clamping: file.transfer.taken))
        if let error { file.waiter.resume(throwing: error) } else { file.waiter.resume(returning: ()) }
    }
}
