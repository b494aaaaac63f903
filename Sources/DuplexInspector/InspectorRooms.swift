// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The parts that an inspector has by its options, in the order in which the page lists them.
enum InspectorRooms {
    static func all(
        _ options: InspectorOptions,
        _ history: RequestHistory,
        below base: String,
        on group: EventLoopGroup?
    ) -> [any InspectorRoom] {
        let mask = SecretMask(options.secrets)
        var rooms: [any InspectorRoom] = []
        let recorder = FrameRecorder()
        rooms.append(ConnectionsRoom(recorder: recorder, mask: mask, own: "WebSocket \(base)/live"))
        rooms.append(RequestsRoom(history: history, mask: mask))
        if let console = options.console { rooms.append(ConsoleRoom(console: console)) }
        let catalogue = DatabaseCatalogue(named: options.databases, folders: options.folders)
        if !options.folders.isEmpty { rooms.append(FileRoom(options.folders, catalogue)) }
        if !options.databases.isEmpty || !options.folders.isEmpty {
            rooms.append(DatabaseRoom(catalogue: catalogue, sqlTime: options.sqlTime, sqlRows: options.sqlRows))
        }
        rooms.append(ValuesRoom(options.values))
        rooms.append(CommandsRoom(options.commands))
        rooms.append(ViewsRoom(options.views))
        let recordings = RecordingsRoom(mask: mask) { await recorder.recording(with: history.ring.all) }
        recordings.show(options.recordings)
        rooms.append(recordings)
        rooms.append(MachineRoom(group: { group ?? .shared }))
        return rooms
    }
}
