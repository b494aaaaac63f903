// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTesting

@Suite struct FaultsTests {
    @Test("A fault without a direction goes both ways, and one with a direction that way only")
    func directions() {
        let flow = Faults.Flow(pieceSize: 1, resetAfter: 40)
        #expect(Faults.split(every: 1, resetAfter: 40) == Faults(toServer: flow, toClient: flow))
        #expect(Faults.split(every: 1, resetAfter: 40, in: .toServer) == Faults(toServer: flow))
        #expect(Faults.split(every: 1, resetAfter: 40, in: .toClient) == Faults(toClient: flow))
        #expect(Faults.reset(after: 3, in: .toClient).toClient == Faults.Flow(resetAfter: 3))
        #expect(Faults.end(after: 3, in: .toClient).toClient == Faults.Flow(endAfter: 3))
        #expect(Faults.stall(after: 3, every: 2, in: .toClient).toClient == Faults.Flow(pieceSize: 2, stallAfter: 3))
        #expect(Faults.none == Faults())
        #expect(Faults.stall()[.toServer] == Faults.Flow(stallAfter: 0))
    }

    @Test(
        "A piece ends where something happens",
        arguments: [
            (Faults.Flow(), 100, 0, 100), (Faults.Flow(pieceSize: 7), 100, 0, 7), (Faults.Flow(pieceSize: 7), 3, 0, 3),
            (Faults.Flow(resetAfter: 10), 100, 4, 6), (Faults.Flow(endAfter: 10), 100, 4, 6),
            (Faults.Flow(stallAfter: 10), 100, 4, 6), (Faults.Flow(stallAfter: 10), 100, 10, 100),
            (Faults.Flow(pieceSize: 4, resetAfter: 10, stallAfter: 6), 100, 4, 2),
            (Faults.Flow(pieceSize: 4, resetAfter: 10, stallAfter: 6), 100, 8, 2),
        ]
    )
    func pieces(flow: Faults.Flow, waiting: Int, passed: Int, expected: Int) {
        #expect(flow.piece(of: waiting, passed: passed) == expected)
    }
}
