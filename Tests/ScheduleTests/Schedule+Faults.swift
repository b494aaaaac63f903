// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWire

extension Schedule {
    /// Compares what an app got with the model.
    ///
    /// - Returns: What was wrong, if anything was.
    func faults(of outcome: ScheduledApp.Outcome, pongs: [[UInt8]], echoes: [RawFrame]) -> [String] {
        let model = model
        var faults = messageFaults(outcome, model)
        if ending != .reset { faults += endingFaults(outcome, model) }
        faults += pongFaults(pongs, model)
        if let fault = echoFault(echoes, model) { faults.append(fault) }
        return faults
    }

    private func messageFaults(_ outcome: ScheduledApp.Outcome, _ model: ReceiverModel) -> [String] {
        let (got, expected) = (outcome.messages, model.messages)
        let isPrefix = got.count <= expected.count && zip(got, expected).allSatisfy { $0 == $1 }
        if !isPrefix {
            let index = zip(got, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? expected.count
            return ["of \(expected.count) messages, \(got.count) came, and number \(index) is another"]
        }
        let least: Int =
            switch ending {
            case .reset: 0
            case .answer: closesAfter ?? 0
            default: expected.count
            }
        return got.count < least ? ["of \(least) messages \(got.count) came"] : []
    }

    private func endingFaults(_ outcome: ScheduledApp.Outcome, _ model: ReceiverModel) -> [String] {
        guard let report = outcome.report else { return [outcome.failure ?? "no connection"] }
        var faults: [String] = []
        switch model.ending {
        case .closed(let code):
            let received = report.received.map { $0.code?.rawValue }
            if received != .some(code) { faults.append("the peer closed with \(code ?? 0): \(report)") }
            if !report.isClean || report.error != nil { faults.append("the close wasn't clean: \(report)") }
        case .violation(let code):
            if report.error?.closeCode.rawValue != code { faults.append("failed not with \(code): \(report)") }
        case .cut where ending == .answer:
            if report.initiator != .local || !report.isClean { faults.append("this side's close: \(report)") }
        case .cut:
            if report.received != nil || report.error != nil { faults.append("the stream ended: \(report)") }
        }
        let endsInOrder = [.closed(nil), .closed(1_000), .closed(1_001)].contains(model.ending)
        if receiver != .handler, ending != .answer, outcome.endedInOrder != endsInOrder {
            faults.append("the loop over messages ended \(outcome.endedInOrder ? "in order" : "with an error")")
        }
        return faults
    }

    /// Pongs answer pings in their order; those before the last may be left out (RFC 6455 section 5.5.3).
    private func pongFaults(_ pongs: [[UInt8]], _ model: ReceiverModel) -> [String] {
        var rest = model.pings[...]
        for pong in pongs {
            guard let index = rest.firstIndex(of: pong) else { return ["a pong answers no ping"] }
            rest = rest[(index + 1)...]
        }
        return []
    }

    /// Messages come back as they came, and none is lost before a violation: it is the peer's fault, and the app's answers to
    /// what was right before it are sent.
    private func echoFault(
        _ echoes: [RawFrame],
        _ model: ReceiverModel
    ) -> String? {
        guard echoes.allSatisfy({ $0.isFinal }) else { return "an echo came in pieces" }
        let plain = echoes.filter { $0.reservedBits == 0 }
        if !settings.isCompressed {
            for (echo, message) in zip(plain, model.messages) where echo.payload != message.octets {
                return "an echo is of another message"
            }
        }
        // What is sent back to a peer that closes comes too late if the app isn't there at once.
        guard self.echoes, ending == .violation, echoes.count != model.messages.count else { return nil }
        return "of \(model.messages.count) messages \(echoes.count) came back"
    }
}

extension Message {
    fileprivate var octets: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .binary(let bytes): bytes
        }
    }
}
