// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Clients that don't speak TLS, at a listener that does: they get an answer in their own protocol.

extension Channel {
    /// The most bytes that are held undecided.
    private static let longestStart = 64

    /// Has the first bytes judged, and gives them to the engine or answers them.
    ///
    /// The first byte of a client that speaks TLS decides: nothing of it is held.
    func takeFirst(_ bytes: RawSpan, _ tls: TLSLayer, _ probe: PlainProbe) {
        if bytes.isEmpty { return }
        let isFirst = tls.held.isEmpty
        if !isFirst { tls.held.append(bytes) }
        let verdict = isFirst ? probe(bytes) : probe(tls.held.span.raw)
        switch verdict {
        case .undecided where (isFirst ? bytes.byteCount : tls.held.count) <= Self.longestStart:
            if isFirst { tls.held.append(bytes) }
        case .answered(let answer):
            (tls.probe, tls.held) = (nil, [])
            put(answer.span.raw, tls)
            failSecured(TLSFailure.plainRequest, tls)
        case .undecided, .other:
            tls.probe = nil
            let held = tls.held
            tls.held = []
            if isFirst {
                tls.engine.withInput(bytes) { process(tls) }
            } else {
                tls.engine.withInput(held.span.raw) { process(tls) }
            }
        }
    }
}
