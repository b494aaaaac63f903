// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

/// What `duplex serve -v` prints of transfers: a line that moves while they go, and one for each that has ended.
enum TransferReport {
    /// Smaller transfers aren't printed.
    static let least = 64 * 1_024
    /// How often the line moves.
    private static let interval = Duration.milliseconds(250)

    /// Keeps a line with the current transfers on the terminal, until it is cancelled.
    ///
    /// - Parameters:
    ///   - server: the server of the connections.
    ///   - console: where the line is; a standard error that isn't a terminal gets none.
    static func follow(_ server: RunningServer, on console: Console) async {
        guard console.isErrorTerminal else { return }
        var isShown = false
        while true {
            do {
                try await Task.sleep(for: interval)
            } catch {
                break
            }
            let line = progress(of: await server.connections.compactMap(\.request))
            if let line { console.showProgress(line) } else if isShown { console.showProgress("") }
            isShown = line != nil
        }
        if isShown { console.showProgress("") }
    }

    /// The line for what goes on: the longest transfer, and how many there are besides.
    ///
    /// - Parameter requests: those that are being answered.
    /// - Returns: the line; `nil` where nothing long moves.
    static func progress(of requests: [RequestProgress]) -> String? {
        let transfers = requests.filter { max($0.bytesReceived, $0.bytesSent) >= least }
        guard let longest = transfers.max(by: { $0.duration < $1.duration }) else { return nil }
        let isUp = longest.bytesReceived > longest.bytesSent
        let (done, whole) =
            isUp ? (longest.bytesReceived, longest.requestLength) : (longest.bytesSent, longest.responseLength)
        var line = "\(isUp ? "↑" : "↓") \(name(of: longest.path)) \(size(done))"
        if let whole, whole > 0 { line += " of \(size(whole)) (\(done * 100 / whole) %)" }
        line += ", \(rate(done, longest.duration))"
        if transfers.count > 1 { line += ", and \((transfers.count - 1).grouped) more" }
        return line
    }

    /// The line for a request that has ended; `nil` for one that moved little.
    static func line(_ request: Request, _ outcome: RequestOutcome) -> String? {
        let bytes = max(outcome.bytesReceived, outcome.bytesSent)
        guard bytes >= least else { return nil }
        let isUp = outcome.bytesReceived > outcome.bytesSent
        let who = [request.user, request.remoteAddress?.host].compactMap(\.self)
        let status = outcome.status.map { "\($0.code)" } ?? "no answer"
        return "\(isUp ? "↑" : "↓") \(who.joined(separator: "@").visible) \(request.method) \(name(of: request.path)): "
            + "\(size(bytes)) in \((outcome.duration.inSeconds).fixed(1)) s, \(rate(bytes, outcome.duration)), "
            + (outcome.isIncomplete ? "cut" : status)
    }

    /// The line for what was done in the shared folder; `nil` for what was only read.
    static func line(_ operation: FolderOperation) -> String? {
        let verb: String
        switch operation.kind {
        case .read: return nil
        case .write: verb = "wrote"
        case .createFolder: verb = "made the folder"
        case .move: verb = "moved"
        case .copy: verb = "copied"
        case .delete: verb = "deleted"
        case .restore: verb = "restored"
        case .change: verb = "changed the properties of"
        }
        let who = [operation.visitor.user, operation.visitor.address?.host].compactMap(\.self)
        let target = operation.destination.map { " to “\($0.text)”" } ?? ""
        let bytes = operation.size.map { " (\(size(Int(clamping: $0))))" } ?? ""
        return "\(who.joined(separator: "@")) \(verb) “\(operation.path.text)”\(target)\(bytes)".visible
    }

    // MARK: Words

    /// The end of a path, as people read it, with room for the rest of the line.
    private static func name(of path: String) -> String {
        let name = (path.removingPercentEncoding ?? path).visible
        return name.count > 40 ? "…" + name.suffix(39) : name
    }

    /// A number of bytes as people say it: `1.2 GiB`.
    static func size(_ bytes: Int) -> String {
        let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        for (unit, name) in units where bytes >= unit {
            return "\((Double(bytes) / Double(unit)).fixed(1)) \(name)"
        }
        return "\(bytes) B"
    }

    private static func rate(_ bytes: Int, _ time: Duration) -> String {
        size(Int(Double(bytes) / max(time.inSeconds, 0.001))) + "/s"
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
