"""Readings from an MQTT broker."""

from skerry.sources.mqtt.connector import MqttConnector

__all__ = ["MqttConnector"]
