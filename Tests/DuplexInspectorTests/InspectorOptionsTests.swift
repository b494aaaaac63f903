// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Testing

@Suite struct InspectorOptionsTests {
    @Test("Nothing may be changed and nobody from elsewhere may look, unless the app says so")
    func standard() {
        let options = InspectorOptions()
        #expect(options.access == .token && options.allowedChanges.isEmpty && !options.answersOtherMachines)
        #expect(options.hosts.isEmpty && options.secrets.isEmpty)
    }
}
