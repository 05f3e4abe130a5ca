"""Extension objects, which `webapp.app.create_app` binds to the application."""

from flask_login import LoginManager
from flask_wtf import CSRFProtect
from htmx_flask import Htmx

csrf = CSRFProtect()
htmx = Htmx()
login = LoginManager()
