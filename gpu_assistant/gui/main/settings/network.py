"""The proxy card: how downloads reach the internet, and a test that asks one source and says what came of it.

What is entered applies at once; the address is saved, user and password stay in memory until the program ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args
from urllib.parse import unquote, urlsplit

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from ....core.types import ProxyUse
from ....fetch.connection_check import ConnectionAnswer
from ....fetch.proxy import parse_address
from ...language import texts
from ...saving import SettingsSaver
from ...widgets.base import announce
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.cards import Card
from ...widgets.inputs import TextField
from ...widgets.text import label
from ...worker import JobRunner
from .cards import RowText, control_rows

if TYPE_CHECKING:
    from ....app import App


class ProxyCard(Card):
    """System setting, no proxy, or an address by hand; `test_button` asks PyTorch's index."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self._app, self._saver = app, saver
        self._is_built = False
        self._answer: ConnectionAnswer | None = None
        self._error_text = ""
        self.use_segments = SegmentedControl([""] * len(get_args(ProxyUse)))
        self.address_field, self.user_field = TextField(), TextField()
        self.password_field = TextField(is_secret=True)
        self.address_field.setObjectName("proxyAddress")
        self.test_button = Button(icon_name="net")
        self.test_button.setObjectName("testConnection")
        self.result_label = label("body")
        self.result_label.setObjectName("connectionResult")
        super().__init__(" ")
        self._use_label, self._memory_label, self._test_label = RowText(), label("small"), RowText()
        self.column.addLayout(control_rows(((self._use_label, self.use_segments),)))
        self.manual_panel = QWidget()
        grid = QGridLayout(self.manual_panel)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(1, 1)
        self._field_labels = tuple(label("body") for _ in range(3))
        fields = (self.address_field, self.user_field, self.password_field)
        for row, (field_label, field) in enumerate(zip(self._field_labels, fields, strict=True)):
            grid.addWidget(field_label, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(field, row, 1)
            field.editingFinished.connect(self.apply_fields)
        grid.addWidget(self._memory_label, len(fields), 0, 1, 2)
        self.column.addWidget(self.manual_panel)
        self.column.addLayout(control_rows(((self._test_label, self.test_button),)))
        self.column.addWidget(self.result_label)
        self._runner = JobRunner(self)
        self._runner.done.connect(self._on_answer)
        self._runner.failed.connect(self._on_failed)
        self._runner.started.connect(self.retranslate)
        self._runner.finished.connect(self.retranslate)
        self.use_segments.chosen.connect(self._choose_use)
        self.test_button.clicked.connect(self.test_or_cancel)
        self._is_built = True
        self._fill_fields()
        self.retranslate()

    @property
    def is_testing(self) -> bool:
        return self._runner.running

    def _fill_fields(self) -> None:
        user, password = self._app.proxy_credentials
        self.address_field.setText(self._app.settings.proxy_address or "")
        self.user_field.setText(user)
        self.password_field.setText(password)

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self.set_title(self.tr("Internet connection"))
        self._use_label.set(
            self.tr("Proxy"), self.tr("Companies and schools often have one. Leave it as it is if you have none.")
        )
        names = {
            "system": self.tr("Use system setting"),
            "none": self.tr("No proxy"),
            "manual": self.tr("Manual"),
        }
        self.use_segments.set_options([names[use] for use in get_args(ProxyUse)])
        self.use_segments.set_current(get_args(ProxyUse).index(self._app.settings.proxy))
        self.use_segments.setAccessibleName(self._use_label.name_label.text())
        field_texts = self.tr("Address"), self.tr("User name, if required"), self.tr("Password")
        fields = (self.address_field, self.user_field, self.password_field)
        for field_label, field, text in zip(self._field_labels, fields, field_texts, strict=True):
            field_label.setText(text)
            field.setAccessibleName(text)
        self.address_field.setPlaceholderText("http://proxy.example:8080")
        self._memory_label.setText(
            self.tr("User name and password are never saved: they are forgotten when GPU Assistant closes.")
        )
        self.manual_panel.setVisible(self._app.settings.proxy == "manual")
        self._test_label.set(self.tr("Check that downloads work"), self.tr("Contacts PyTorch's download site."))
        self.test_button.setText(self.tr("Cancel") if self.is_testing else self.tr("Test connection"))
        self.test_button.setEnabled(not self._app.simulated)
        self._show_result()

    def _show_result(self) -> None:
        answer = self._answer
        if self._error_text:
            self.result_label.set_tone("error")
            self.result_label.setText(self._error_text)
        elif self.is_testing:
            self.result_label.set_tone("soft")
            self.result_label.setText(self.tr("Connecting to PyTorch's download site…"))
        elif answer is not None:
            self.result_label.set_tone("ok" if answer.is_good else "error")
            self.result_label.setText(texts().message_text(answer.message))
        else:
            self.result_label.setText("")
        self.result_label.setVisible(bool(self.result_label.text()))

    def _choose_use(self, index: int) -> None:
        self._runner.cancel()
        self._answer, self._error_text = None, ""
        self._saver.save(proxy=get_args(ProxyUse)[index])
        self.retranslate()
        if self._app.settings.proxy == "manual":
            self.address_field.setFocus()

    def apply_fields(self) -> bool:
        """Use what was entered; False, and a sentence, where that is no proxy's address."""
        text = self.address_field.text().strip()
        address = parse_address(text) if text else None
        self._error_text = ""
        if text and address is None:
            self._error_text = self.tr(
                "This is not a proxy address. Write it like http://proxy.example:8080, as shown on your "
                "network's help page or in your proxy program."
            )
            self._show_result()
            return False
        self._take_credentials_from(text)
        if address is not None:
            self.address_field.setText(address)
        credentials = self.user_field.text(), self.password_field.text()
        if (address, credentials) != (self._app.settings.proxy_address, self._app.proxy_credentials):
            self._answer = None
            self._app.proxy_credentials = credentials
            self._saver.save(proxy_address=address)
            self._show_result()
        return True

    def _take_credentials_from(self, address: str) -> None:
        """User and password that were pasted within the address go into their own fields."""
        if "@" not in address:
            return
        parts = urlsplit(address if "://" in address else f"http://{address}")
        self.user_field.setText(unquote(parts.username or ""))
        self.password_field.setText(unquote(parts.password or ""))

    def test_or_cancel(self) -> None:
        """Ask the source by the present choice, or stop asking."""
        if self.is_testing:
            self._runner.cancel()
            return
        if self._app.settings.proxy == "manual" and not self.apply_fields():
            return
        self._answer = None
        self._runner.start(self._app.check_connection())

    def _on_answer(self, answer: ConnectionAnswer) -> None:
        self._answer = answer
        self._show_result()
        announce(self.result_label, texts().message_text(answer.message))

    def _on_failed(self, error: object) -> None:
        self._error_text = texts().error_text(error)  # type: ignore[arg-type]
        self._show_result()
